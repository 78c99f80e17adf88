//! A01 to A04: ids, notifications, parameters, two requests of one id.

use serde_json::{Value, json};

use crate::support::{
    calling,
    fixture::{fixture, stateless},
    http::{Request, Server},
    legacy, meta, modern,
    probe::Probe,
    session::Session,
    stdio::Stdio,
    text,
};

/// Ids that are ids, as they are written.
const GOOD_IDS: [&str; 6] = ["0", "\"\"", "\"1\"", "\"ид-☃\"", "9007199254740993", "-7"];
const BAD_IDS: [&str; 3] = ["1.5", "null", "true"];

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

// req: jsonrpc-response-echoes-id, jsonrpc-id-string-or-integer, jsonrpc-id-not-null
// req: lifecycle-ping-reply, jsonrpc-error-without-id, errors-invalid-request-32600
#[tokio::test]
async fn a01_ids_come_back_exactly_as_sent_on_stdio() {
    let stdio = Stdio::shaken(fixture(&Probe::default()), "2025-11-25").await;
    for id in GOOD_IDS.iter().chain(&BAD_IDS) {
        stdio.send(&ping(id)).await;
    }
    let answers = stdio.finish().await;
    let (good, bad) = answers.split_at(GOOD_IDS.len());
    for (answer, id) in good.iter().zip(GOOD_IDS) {
        assert_eq!(answer["id"].to_string(), id);
        assert_eq!(answer["result"], json!({}));
    }
    assert_eq!(bad.len(), BAD_IDS.len());
    for answer in bad {
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer.get("id"), None, "{answer}");
    }
}

// req: jsonrpc-response-echoes-id, jsonrpc-id-not-null, jsonrpc-id-string-or-integer
#[tokio::test]
async fn a01_ids_come_back_exactly_as_sent_over_http() {
    let probe = Probe::default();
    let server = Server::of(stateless(&probe));
    for id in GOOD_IDS {
        let response = server.send(&Request::legacy(ping(id))).await;
        assert_eq!(response.status, 200);
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(response.text(), expected);
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{}}}}}"#,
            meta()
        );
        let response = server.send(&Request::modern("tools/list", body)).await;
        assert!(
            response
                .text()
                .starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#))
        );
    }
    for id in BAD_IDS {
        let echo = calling("echo", json!({"text": "bad id"}));
        let bodies = [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{echo}}}"#),
            ping(id),
        ];
        for body in bodies {
            let response = server.send(&Request::legacy(body)).await;
            assert_eq!((response.status, response.code()), (400, -32600), "{id}");
            assert_eq!(response.message().get("id"), None);
        }
    }
    assert!(!probe.has("echo bad id"));
}

#[tokio::test]
async fn a01_a_string_and_a_number_are_two_ids_in_routing_and_cancellation() {
    let probe = Probe::default();
    let stdio = Stdio::shaken(fixture(&probe), "2025-11-25").await;
    stdio
        .send(&legacy(
            1,
            "tools/call",
            calling("slow", json!({"ms": 120})),
        ))
        .await;
    stdio
        .send(&legacy(
            "1",
            "tools/call",
            calling("slow", json!({"ms": 90})),
        ))
        .await;
    assert_eq!(text(&stdio.answer(&json!("1")).await["result"]), "90");
    assert_eq!(text(&stdio.answer(&json!(1)).await["result"]), "120");

    stdio
        .send(&legacy(2, "tools/call", calling("slow", json!({"ms": 60}))))
        .await;
    stdio
        .send(&legacy("2", "tools/call", calling("hold", json!({}))))
        .await;
    probe.until("hold began").await;
    let cancel = json!({"requestId": "2"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    stdio.send(&cancel.to_string()).await;
    probe.until("hold stopped").await;
    assert_eq!(text(&stdio.answer(&json!(2)).await["result"]), "60");
    let answers = stdio.finish().await;
    assert_eq!(answers.len(), 3, "{answers:?}");
}

const A02: [&str; 4] = [
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/acme/unheard-of","params":{"x":1}}"#,
    r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"side effect"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
];

// req: jsonrpc-notification-never-answered, lifecycle-initialized-accepted
#[tokio::test]
async fn a02_a_notification_is_never_answered_on_stdio() {
    let probe = Probe::default();
    let stdio = Stdio::shaken(fixture(&probe), "2025-11-25").await;
    for line in A02 {
        stdio.send(line).await;
    }
    let answers = stdio.finish().await;
    assert_eq!(answers, [json!({"jsonrpc": "2.0", "id": 2, "result": {}})]);
    assert!(!probe.has("echo side effect"));
}

// req: jsonrpc-notification-never-answered, http-notification-202
#[tokio::test]
async fn a02_a_notification_is_never_answered_over_http() {
    let probe = Probe::default();
    let server = Server::of(stateless(&probe));
    for request in [Request::legacy, |body: &str| {
        Request::post(body).header("MCP-Protocol-Version", "2026-07-28")
    }] {
        for body in [A02[0], A02[1]] {
            let response = server.send(&request(body)).await;
            assert_eq!((response.status, response.text()), (202, ""), "{body}");
        }
        let response = server.send(&request(A02[2])).await;
        assert!([202, 400].contains(&response.status), "{response:?}");
        assert!(!response.text().contains("result"), "{response:?}");
    }
    let response = server.send(&Request::legacy(A02[3])).await;
    assert_eq!(response.message()["id"], 2);
    assert!(!probe.has("echo side effect"));
}

const A03: [&str; 6] = [
    r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":null}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[]}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":"echo"}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#,
];

fn a03_check(answers: &[Value]) {
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [3, 4, 5, 6, 7]);
    for answer in &answers[..3] {
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }
    for answer in &answers[3..] {
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

// req: jsonrpc-params-may-be-absent-legacy, errors-invalid-params-32602
#[tokio::test]
async fn a03_params_missing_null_array_or_string_on_stdio() {
    let stdio = Stdio::shaken(fixture(&Probe::default()), "2025-11-25").await;
    for line in A03 {
        stdio.send(line).await;
    }
    stdio.send(&ping("8")).await;
    let answers = stdio.finish().await;
    a03_check(&answers[..5]);
    assert_eq!(
        answers[5..],
        [json!({"jsonrpc": "2.0", "id": 8, "result": {}})]
    );
}

// req: jsonrpc-params-may-be-absent-legacy, meta-2026-meta-required
#[tokio::test]
async fn a03_params_missing_null_array_or_string_over_http() {
    let server = Server::of(stateless(&Probe::default()));
    let mut answers = Vec::new();
    for body in A03 {
        let response = server.send(&Request::legacy(body)).await;
        answers.extend(response.messages());
        assert_eq!(
            response.status,
            if body == A03[0] { 202 } else { 200 },
            "{body}"
        );
        let method = if body.contains("list") {
            "tools/list"
        } else {
            "tools/call"
        };
        let mut request = Request::modern(method, body);
        if method == "tools/call" {
            request = request.header("Mcp-Name", "echo");
        }
        if body == A03[0] {
            let request = request.with("Mcp-Method", "notifications/initialized");
            assert_eq!(server.send(&request).await.status, 202);
            continue;
        }
        let response = server.send(&request).await;
        assert_eq!((response.status, response.code()), (400, -32602), "{body}");
    }
    a03_check(&answers);
}

// req: meta-2026-meta-required
#[tokio::test]
async fn a03_a_request_without_handshake_and_context_on_stdio() {
    let stdio = Stdio::start(fixture(&Probe::default()));
    for line in A03 {
        stdio.send(line).await;
    }
    let answers = stdio.finish().await;
    assert_eq!(answers.len(), 5);
    for (answer, id) in answers.iter().zip(3..) {
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(id), &json!(-32602))
        );
    }
}

fn a04_slow(ms: u32) -> Value {
    calling("slow", json!({"ms": ms}))
}

async fn a04_pair(server: &Server, first: Request, second: Request) {
    let (first, second) = tokio::join!(server.send(&first), server.send(&second));
    for (response, ms) in [(first, "800"), (second, "100")] {
        let message = response.message();
        assert_eq!((response.status, &message["id"]), (200, &json!(1)));
        assert_eq!(text(&message["result"]), ms);
    }
}

#[tokio::test]
async fn a04_two_requests_in_flight_with_the_same_id_over_http() {
    let server = Server::of(fixture(&Probe::default()));
    let [session, other] = [(); 2].map(|()| Session::open(&server));
    let (session, other) = tokio::join!(session, other);
    let post = |ms| Request::post(legacy(1, "tools/call", a04_slow(ms)));
    let old = |ms| session.dressed(post(ms));
    let of_another = |ms| other.dressed(post(ms));
    let new = |ms, token: &str| {
        Request::modern("tools/call", modern(1, "tools/call", a04_slow(ms)))
            .header("Mcp-Name", "slow")
            .header("Authorization", &format!("Bearer {token}"))
    };
    tokio::join!(
        a04_pair(&server, old(800), old(100)),
        a04_pair(&server, old(800), of_another(100)),
        a04_pair(&server, new(800, "anna"), new(100, "berta")),
        a04_pair(&server, old(800), new(100, "berta")),
    );
}

// req: jsonrpc-2026-id-reuse-after-response
#[tokio::test]
async fn a04_the_second_of_two_on_stdio_is_not_run() {
    for request in [
        |params| legacy(1, "tools/call", params),
        |params| modern(1, "tools/call", params),
    ] {
        let probe = Probe::default();
        let stdio = Stdio::shaken(fixture(&probe), "2025-11-25").await;
        let echo = |said: &str| request(calling("echo", json!({"text": said})));
        stdio.send(&request(a04_slow(100))).await;
        stdio.send(&echo("second")).await;
        let first = stdio.answer(&json!(1)).await;
        assert_eq!(text(&first["result"]), "100");
        assert!(!probe.has("echo second"));
        // The id is free again.
        stdio.send(&echo("third")).await;
        let answers = stdio.finish().await;
        let texts: Vec<&str> = answers.iter().map(|it| text(&it["result"])).collect();
        assert_eq!(texts, ["100", "third"]);
    }
}
