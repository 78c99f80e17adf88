//! Tenants: what one keeps, no other finds, also where the same person asks.

use std::{collections::BTreeSet, sync::Arc};

use actix_web::HttpRequest;
use mcp_core::{
    Dispatcher, Incoming, Key, PageSize, Principal, Registry, ServerConfig, types::JsonObject,
};
use mcp_http_actix::Endpoint;
use proptest::{
    prelude::Strategy, prop_assert, prop_assert_eq, prop_assert_ne, prop_assume, proptest,
    sample::select, test_runner::Config,
};
use serde_json::{Value, json};

use crate::{
    support::{
        calling,
        curious::{self, able, anything, confirmed},
        events::Events,
        http::{Request, Response, Server},
        init, legacy,
        lively::{self, WATCHED},
        login::{Given, bearer, door, guarded_by, of},
        modern,
        pending::Pending,
        probe::Probe,
        session::Session,
        spy::Names,
        text,
        watched::{WatchedHub, WatchedStore},
    },
    vectors::run,
};

const TENANT: &str = "X-Tenant";

/// What the application has verified of a request, for these tests: one header.
fn tenant(request: &HttpRequest) -> Option<String> {
    let tenant = request.headers().get(TENANT)?.to_str().ok()?;
    Some(tenant.to_owned())
}

/// A server of several tenants, whose only person is Alice.
struct Site {
    server: Server,
    registry: Registry,
    probe: Probe,
    names: Names,
}

impl Site {
    fn new(build: impl Fn(&Probe, ServerConfig) -> Registry) -> Self {
        let (probe, mut config) = (Probe::default(), ServerConfig::default());
        let names = Names::default();
        config.store = Some(Arc::new(WatchedStore::by(names.clone())));
        config.hub = Some(Arc::new(WatchedHub::by(names.clone())));
        config.page_size = PageSize::new(3).unwrap();
        let registry = build(&probe, config);
        let endpoint = Endpoint::new(registry.clone())
            .authorization(door().build().unwrap())
            .namespace(tenant);
        let server = Server::start(endpoint);
        Self {
            server,
            registry,
            probe,
            names,
        }
    }

    async fn session(&self, tenant: &str) -> Session {
        let headers = [("Authorization", &*of("alice", "")), (TENANT, tenant)];
        Session::of(&self.server, "2025-11-25", &headers).await
    }

    async fn send(&self, tenant: &str, method: &str, name: &str, params: Value) -> Response {
        let request = Request::modern(method, able(1, method, params)).of(&of("alice", ""));
        let request = if name.is_empty() {
            request
        } else {
            request.header("Mcp-Name", name)
        };
        self.server.send(&request.header(TENANT, tenant)).await
    }

    async fn tool(&self, tenant: &str, name: &str, arguments: Value) -> Response {
        let params = calling(name, arguments);
        self.send(tenant, "tools/call", name, params).await
    }

    /// All names under which store and hub were used, as namespace and kind.
    fn used(&self) -> BTreeSet<(String, String)> {
        let names = self.names.all();
        names.iter().map(|name| parts(name)).collect()
    }
}

/// Namespace and kind of a name: `KIND/LENGTH:NAMESPACE/ID`.
fn parts(name: &str) -> (String, String) {
    let (kind, rest) = name.split_once('/').unwrap();
    let (length, rest) = rest.split_once(':').unwrap();
    let namespace = &rest[..length.parse().unwrap()];
    (namespace.to_owned(), kind.to_owned())
}

#[tokio::test]
async fn a_session_is_of_one_tenant() {
    let site = Site::new(lively::with);
    let ours = site.session("a").await;
    assert_eq!(
        ours.tool("put", json!({"name": "n", "text": "ours"})).await,
        "kept"
    );
    let elsewhere = ours.with(TENANT, "b");
    let unknown = Session {
        id: "A".repeat(32),
        ..elsewhere.clone()
    };
    for request in [
        Request::post(legacy(1, "ping", json!({}))),
        Request::get(),
        Request::bare("DELETE"),
    ] {
        let (there, never) = (
            elsewhere.send(request.clone()).await,
            unknown.send(request).await,
        );
        assert_eq!((there.status, there.text()), (404, never.text()));
    }
    let theirs = site.session("b").await;
    assert_eq!(theirs.tool("get", json!({"name": "n"})).await, "nothing");
    assert_eq!(ours.tool("get", json!({"name": "n"})).await, "ours");
}

#[tokio::test]
async fn handles_and_cursors_are_of_one_tenant() {
    let site = Site::new(lively::with);
    let handle = site.tool("a", "open", json!({})).await.message();
    let handle = text(&handle["result"]).to_owned();
    let count = async |tenant| {
        let answer = site.tool(tenant, "count", json!({"handle": handle})).await;
        text(&answer.message()["result"]).to_owned()
    };
    assert_eq!(count("b").await, "gone");
    assert_eq!(count("a").await, "1");
    let list = async |tenant, params| site.send(tenant, "tools/list", "", params).await;
    let first = list("a", json!({})).await.message();
    let next = json!({"cursor": first["result"]["nextCursor"]});
    assert_eq!(list("b", next.clone()).await.code(), -32602);
    assert!(list("a", next).await.message()["result"]["tools"].is_array());
}

/// Whether it travels, waits in the store or counts once.
#[tokio::test]
async fn states_and_what_counts_once_are_of_one_tenant() {
    let site = Site::new(curious::with);
    for (tool, answer, runs) in [
        ("transfer", confirmed as fn(&Value) -> Value, "sent 5"),
        ("transfer_once", confirmed, "sent 5"),
        ("bulky_once", anything, "done"),
    ] {
        let arguments = if tool == "bulky_once" {
            json!({})
        } else {
            json!({"amount": 5})
        };
        let params = calling(tool, arguments);
        let call = async |tenant, params| site.send(tenant, "tools/call", tool, params).await;
        let mut asked = call("a", params.clone()).await.message();
        site.probe.clear();
        while let Some(pending) = Pending::of(&params, &asked["result"]) {
            let retry = pending.answered(answer);
            let stolen = call("b", retry.clone()).await.message();
            let reason = &stolen["error"]["data"]["reason"];
            assert_eq!(reason, "invalid_request_state", "{tool}: {stolen}");
            asked = call("a", retry).await.message();
        }
        assert!(!text(&asked["result"]).is_empty(), "{asked}");
        assert_eq!(site.probe.count(runs), 1, "{tool}");
    }
    let kinds = |namespace: &str| {
        let used = site.used();
        let of = used.iter().filter(|(it, _)| it == namespace);
        of.map(|(_, kind)| kind.clone()).collect::<Vec<_>>()
    };
    assert_eq!(kinds("a"), ["retry", "state"]);
    assert_eq!(kinds("b"), [""; 0], "nothing was even looked up");
}

/// Listeners of both eras hear what everybody hears, and what is of their tenant.
#[tokio::test]
async fn what_changes_is_told_in_its_tenant() {
    let site = Site::new(lively::with);
    let mut heard = Vec::new();
    for tenant in ["a", "b"] {
        let session = site.session(tenant).await;
        for uri in WATCHED {
            session
                .ask("resources/subscribe", json!({"uri": uri}))
                .await;
        }
        heard.push((tenant, session.listen().await.log()));
        let method = "subscriptions/listen";
        let filter = json!({"notifications": {"resourceSubscriptions": WATCHED}});
        let request = Request::modern(method, modern(1, method, filter));
        let request = request.of(&of("alice", "")).header(TENANT, tenant);
        let mut events = Events::open(&site.server, &request).await;
        events.message().await;
        heard.push((tenant, events.log()));
    }
    for namespace in ["a", "ab", ""] {
        site.registry.resource_updated_in(namespace, WATCHED[0]);
    }
    // One topic has an order: who hears of this has heard of all that was told before.
    site.registry.resource_updated(WATCHED[1]);
    for (tenant, (log, _)) in heard {
        log.first(|it| it["params"]["uri"] == WATCHED[1]).await;
        let messages = log.messages();
        let uris = messages
            .iter()
            .filter_map(|it| it["params"]["uri"].as_str());
        let expected = if tenant == "a" {
            &WATCHED[..]
        } else {
            &WATCHED[1..]
        };
        assert_eq!(uris.collect::<Vec<_>>(), expected, "{tenant}");
    }
}

/// Not one name of store and hub but that of what changes for everybody is without its tenant.
#[tokio::test]
async fn every_name_has_its_namespace() {
    let site = Site::new(|probe, config| {
        curious::asking(lively::builder(probe))
            .build(config)
            .unwrap()
    });
    let tenant = "t/1:%";
    let session = site.session(tenant).await;
    session
        .ask("resources/subscribe", json!({"uri": WATCHED[0]}))
        .await;
    let _stream = session.listen().await;
    site.probe.note_all(&["go 1", "go on"]);
    session.call(1, "steps", json!({"n": 1})).await.rest().await;
    session.tool("put", json!({"name": "n", "text": "t"})).await;
    site.tool(tenant, "open", json!({})).await;
    let params = calling("bulky_once", json!({}));
    let mut asked = site
        .send(tenant, "tools/call", "bulky_once", params.clone())
        .await
        .message();
    while let Some(pending) = Pending::of(&params, &asked["result"]) {
        let retry = pending.answered(anything);
        asked = site
            .send(tenant, "tools/call", "bulky_once", retry)
            .await
            .message();
    }
    assert_eq!(session.delete().await.status, 204);
    let used = site.used();
    let named = |namespace: &str| {
        let of = used.iter().filter(|(it, _)| it == namespace);
        of.map(|(_, kind)| kind.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(named(""), ["changes"]);
    let kinds = ["control", "handle", "retry", "session", "state", "stream"];
    assert_eq!(named(tenant), kinds);
    assert_eq!(used.len(), 1 + kinds.len(), "{used:?}");
}

/// Where nobody says otherwise each principal has a namespace of its own; an application may make
/// one of several.
#[tokio::test]
async fn a_namespace_follows_from_the_principal() {
    let told = async |door, claims: &Value| {
        let registry = Registry::builder("x", "1").tool(mcp_core::tool(
            "where",
            async |(): (), exchange: mcp_core::Exchange| exchange.namespace().to_owned(),
        ));
        let server = guarded_by(registry.build(ServerConfig::default()).unwrap(), door);
        let body = modern(1, "tools/call", calling("where", json!({})));
        let request = Request::modern("tools/call", body).header("Mcp-Name", "where");
        let message = server.send(&request.of(&bearer(claims))).await.message();
        text(&message["result"]).to_owned()
    };
    let claims =
        |subject: &str, tenant: &str| json!({"sub": subject, "scope": "mcp:use", "tenant": tenant});
    let of_claim = |principal: &Principal| principal.claim("tenant").unwrap_or_default();
    let alice = told(door(), &claims("alice", "t")).await;
    assert_eq!(alice, Principal::new("x", "alice").identity());
    assert_ne!(alice, told(door(), &claims("bob", "t")).await);
    for subject in ["alice", "bob"] {
        let door = door().namespace(of_claim);
        assert_eq!(told(door, &claims(subject, "t")).await, "t");
    }
}

/// In one namespace a session is still its owner's alone.
#[tokio::test]
async fn a_namespace_that_people_share_shares_no_session() {
    let registry = lively::lively(&Probe::default());
    let door = door().namespace(|_| "everybody".to_owned());
    let server = guarded_by(registry, door);
    let alice = Session::of(
        &server,
        "2025-11-25",
        &[("Authorization", &of("alice", ""))],
    )
    .await;
    let bob = alice.with("Authorization", &of("bob", ""));
    assert_eq!((bob.status().await, alice.status().await), (404, 200));
    assert_eq!(bob.delete().await.status, 404);
    assert_eq!(alice.delete().await.status, 204);
}

/// Text made of what could be taken for a separator.
fn names() -> impl Strategy<Value = String> {
    let parts = select(
        &[
            "", "a", "/", ":", "%", "%2F", "\0", "1:a", "0:", "ü", "世", "session/", " ", "..",
        ][..],
    );
    proptest::collection::vec(parts, 0..5).prop_map(|parts| parts.concat())
}

/// A person's session in a namespace, and whether it is found.
async fn status(dispatcher: &Dispatcher, who: (&Arc<Principal>, &str), session: &str) -> u16 {
    let headers = Given(vec![
        ("mcp-session-id", session.into()),
        ("mcp-protocol-version", "2025-11-25".into()),
    ]);
    let incoming = Incoming::new(legacy(1, "ping", json!({})).into())
        .headers(&headers)
        .principal(Some(who.0))
        .namespace(Some(who.1));
    match dispatcher.answer(&incoming).next().await {
        Some(mcp_core::Message::Reply(reply)) => reply.status,
        other => panic!("{other:?}"),
    }
}

async fn opened(dispatcher: &Dispatcher, who: (&Arc<Principal>, &str)) -> String {
    let headers = Given::default();
    let incoming = Incoming::new(init("2025-11-25").into())
        .headers(&headers)
        .principal(Some(who.0))
        .namespace(Some(who.1));
    match dispatcher.answer(&incoming).next().await {
        Some(mcp_core::Message::Reply(reply)) => reply.session.unwrap().into(),
        other => panic!("{other:?}"),
    }
}

/// A listing of a person in a namespace: whether there was one, and its cursor.
async fn listed(
    dispatcher: &Dispatcher,
    who: (&Arc<Principal>, &str),
    cursor: Option<&str>,
) -> (bool, Option<String>) {
    let params = cursor.map_or_else(|| json!({}), |it| json!({"cursor": it}));
    let incoming = Incoming::new(modern(1, "tools/list", params).into())
        .principal(Some(who.0))
        .namespace(Some(who.1));
    match dispatcher.answer(&incoming).next().await {
        Some(mcp_core::Message::Reply(reply)) => {
            let message: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
            let next = message["result"]["nextCursor"].as_str();
            (
                message["result"]["tools"].is_array(),
                next.map(str::to_owned),
            )
        }
        other => panic!("{other:?}"),
    }
}

fn few(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(few(500))]

    #[test]
    fn names_do_not_collide(a in (names(), names()), b in (names(), names())) {
        for (kind, other) in [("session", "session"), ("session", "state")] {
            let keys = (Key::new(&a.0, kind, &a.1), Key::new(&b.0, other, &b.1));
            let same = a == b && kind == other;
            prop_assert_eq!(keys.0.as_str() == keys.1.as_str(), same);
        }
        let key = Key::new(&a.0, "session", &a.1);
        prop_assert_eq!(parts(key.as_str()), (a.0, "session".to_owned()));
    }

    #[test]
    fn identities_do_not_collide(
        a in (names(), names(), names()),
        b in (names(), names(), names()),
    ) {
        prop_assume!(a != b);
        let person = |(issuer, client, subject): &(String, String, String)| {
            Principal::new(issuer, subject).client(client).claims(JsonObject::new())
        };
        let (a, b) = (person(&a), person(&b));
        prop_assert_ne!(a.identity(), b.identity());
        prop_assert!(a != b);
    }
}

proptest! {
    #![proptest_config(few(100))]

    #[test]
    fn a_session_is_found_by_its_own_person_in_its_own_namespace(
        ours in (names(), names()),
        theirs in (names(), names()),
    ) {
        prop_assume!(ours != theirs);
        let dispatcher = Dispatcher::new(lively::lively(&Probe::default()));
        let person = |name: &str| Arc::new(Principal::new("x", name));
        let (alice, bob) = (person(&ours.0), person(&theirs.0));
        let (own, foreign) = run(async {
            let id = opened(&dispatcher, (&alice, &ours.1)).await;
            let own = status(&dispatcher, (&alice, &ours.1), &id).await;
            (own, status(&dispatcher, (&bob, &theirs.1), &id).await)
        });
        prop_assert_eq!((own, foreign), (200, 404));
    }

    #[test]
    fn a_cursor_leads_on_its_own_person_in_its_own_namespace(
        ours in (names(), names()),
        theirs in (names(), names()),
    ) {
        prop_assume!(ours != theirs);
        let mut config = ServerConfig::default();
        config.page_size = PageSize::new(3).unwrap();
        let dispatcher = Dispatcher::new(lively::with(&Probe::default(), config));
        let person = |name: &str| Arc::new(Principal::new("x", name));
        let (alice, bob) = (person(&ours.0), person(&theirs.0));
        let (own, foreign) = run(async {
            let (_, cursor) = listed(&dispatcher, (&alice, &ours.1), None).await;
            let own = listed(&dispatcher, (&alice, &ours.1), cursor.as_deref()).await;
            (own, listed(&dispatcher, (&bob, &theirs.1), cursor.as_deref()).await)
        });
        prop_assert!(own.0);
        prop_assert_eq!(foreign, (false, None));
    }
}
