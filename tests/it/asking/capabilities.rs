//! What a client did not declare is not asked.

use serde_json::{Value, json};

use crate::support::{
    calling,
    curious::{self, anything, capable},
    http::{Request, Server},
    legacy,
    matrix::{Need, each_client},
    peer::Peer,
    probe::Probe,
    session::Session,
    text,
};

/// What `careful` asks for, one after another, and whether such a client is asked.
fn wanted(peer: &Peer, declared: &Value) -> [(&'static str, bool); 5] {
    let elicitation = &declared["elicitation"];
    let modes = elicitation.as_object();
    let url = elicitation.get("url").is_some();
    let form = modes.is_some_and(|it| it.is_empty() || it.contains_key("form"));
    let sampling = &declared["sampling"];
    let questions = peer.has(Need::Questions);
    [
        ("form", form && peer.has(Need::FormMessages)),
        ("url", url && peer.has(Need::Urls)),
        ("model", sampling.is_object() && questions),
        (
            "tools",
            sampling.get("tools").is_some() && peer.has(Need::ModelTools),
        ),
        ("file:///r", declared.get("roots").is_some() && questions),
    ]
}

// req: elicit-capability-gate, elicit-mode-gate, sampling-capability-gate, sampling-tools-gate
// req: roots-capability-gate, mrtr-capability-filter
#[tokio::test]
async fn who_declares_something_is_asked_that_and_nothing_else() {
    for declared in [
        json!({}),
        json!({"elicitation": {}}),
        json!({"elicitation": {"form": {}}}),
        json!({"elicitation": {"url": {}}}),
        json!({"sampling": {}}),
        json!({"sampling": {"tools": {}}}),
        json!({"roots": {}}),
        capable(),
    ] {
        each_client(&declared, curious::with, &[], async |peer| {
            let asked = peer.ask_tool("careful", json!({}), anything).await;
            let wanted = wanted(peer, &declared);
            let expected = wanted.map(|(said, asks)| if asks { said } else { "-" });
            assert_eq!(asked.text(), expected.join(" "), "{declared}");
            let count = wanted.iter().filter(|(_, asks)| *asks).count();
            assert_eq!(asked.questions.len(), count, "{declared}");
        })
        .await;
    }
}

/// What asks, what a client declares that is not enough, and what is required instead.
fn lacking() -> Vec<(&'static str, Value, Value)> {
    let form = json!({"elicitation": {"form": {}}});
    let url = json!({"elicitation": {"url": {}}});
    let tools = json!({"sampling": {"tools": {}}});
    vec![
        ("quiet", json!({}), form.clone()),
        ("quiet", url.clone(), form.clone()),
        ("visit", json!({}), url.clone()),
        ("visit", json!({"elicitation": {}}), url.clone()),
        ("visit", form, url),
        ("model", json!({"roots": {}}), json!({"sampling": {}})),
        ("tooled", json!({}), tools.clone()),
        ("tooled", json!({"sampling": {}}), tools),
        ("folders", json!({"sampling": {}}), json!({"roots": {}})),
    ]
}

// req: elicit-capability-gate, elicit-mode-gate, sampling-capability-gate, sampling-tools-gate
// req: roots-capability-gate, mrtr-capability-filter
#[tokio::test]
async fn a_question_that_cannot_be_put_fails_and_says_what_it_needs() {
    for (tool, declared, required) in lacking() {
        each_client(&declared, curious::with, &[], async |peer| {
            let arguments = match tool {
                "quiet" => json!({"amount": 5}),
                _ => json!({}),
            };
            let asked = peer.ask_tool(tool, arguments, anything).await;
            assert_eq!(asked.questions, [json!(null); 0], "{tool} {declared}");
            let outcome = &asked.outcome;
            if peer.has(Need::RequestContext) {
                assert_eq!(outcome.code(), -32021, "{tool} {declared}");
                let data = &outcome.error()["data"];
                assert_eq!(data, &json!({"requiredCapabilities": required}));
                assert_eq!(outcome.status.unwrap_or(400), 400);
            } else {
                assert!(outcome.is_tool_error(), "{asked:?}");
                let capability = required.as_object().unwrap().keys().next().unwrap();
                assert!(text(outcome.result()).contains(capability), "{asked:?}");
            }
        })
        .await;
    }
}

// req: mrtr-capability-filter, elicit-capability-gate
#[tokio::test]
async fn a_prompt_and_a_resource_say_what_they_need() {
    let nothing = json!({});
    each_client(&nothing, curious::with, &[], async |peer| {
        for (method, params) in [
            ("prompts/get", json!({"name": "about"})),
            ("resources/read", json!({"uri": "asked://town"})),
        ] {
            let asked = peer.ask(method, params, anything).await;
            assert_eq!(asked.questions.len(), 0);
            let modern = peer.has(Need::RequestContext);
            let code = if modern { -32021 } else { -32603 };
            assert_eq!(asked.outcome.code(), code, "{asked:?}");
            let data = &asked.outcome.error()["data"]["requiredCapabilities"];
            assert!(!modern || data["elicitation"]["form"].is_object(), "{data}");
        }
    })
    .await;
}

/// Capabilities are those of the request, and not of the one before.
// req: mrtr-capability-filter
#[tokio::test]
async fn a_retry_is_asked_what_it_declares_itself() {
    let needs = [Need::QuestionsInResults];
    each_client(&capable(), curious::with, &needs, async |peer| {
        use crate::support::pending::Pending;
        let params = calling("interview", json!({}));
        let outcome = peer.call("tools/call", params.clone()).await;
        let pending = Pending::of(&params, outcome.result()).unwrap();
        let retry = pending.answered(anything);
        let less = json!({"io.modelcontextprotocol/clientCapabilities": {"roots": {}}});
        let outcome = peer.call_with("tools/call", retry.clone(), less).await;
        assert_eq!(outcome.code(), -32021, "{outcome:?}");
        let outcome = peer.call("tools/call", retry).await;
        assert!(Pending::of(&params, outcome.result()).is_some());
    })
    .await;
}

/// A session whose client has declared everything.
async fn capable_session(server: &Server, version: &'static str) -> Session {
    Session::declaring(server, version, &capable(), &[]).await
}

#[tokio::test]
async fn who_takes_only_json_is_not_asked() {
    let probe = Probe::default();
    let server = Server::of(curious::with(&probe, mcp_core::ServerConfig::default()));
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let session = capable_session(&server, version).await;
        let call = legacy(1, "tools/call", calling("careful", json!({})));
        let request = Request::post(call).with("Accept", "application/json");
        let response = session.send(request).await;
        assert_eq!(
            text(&response.message()["result"]),
            "- - - - -",
            "{version}"
        );
        let call = legacy(1, "tools/call", calling("model", json!({})));
        let request = Request::post(call).with("Accept", "application/json");
        let message = session.send(request).await.message();
        assert_eq!(message["result"]["isError"], true, "{version}");
    }
}

/// Where a question is a result, one kind of answer is enough.
#[tokio::test]
async fn who_takes_only_json_is_asked_in_results() {
    let server = Server::of(curious::with(
        &Probe::default(),
        mcp_core::ServerConfig::default(),
    ));
    let body = curious::able(1, "tools/call", calling("several", json!({})));
    let request = Request::modern("tools/call", body).header("Mcp-Name", "several");
    let response = server
        .send(&request.with("Accept", "application/json"))
        .await;
    let result = &response.message()["result"];
    assert_eq!(
        result["inputRequests"].as_object().unwrap().len(),
        4,
        "{result}"
    );
}
