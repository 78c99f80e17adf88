//! HTTP+SSE, the transport of 2024-11-05.

use std::time::Duration;

use mcp_core::{Change, Registry, ServerConfig};
use mcp_http_actix::{Endpoint, bind};
use serde_json::{Value, json};

use crate::support::{
    INITIALIZED, calling, curious,
    events::Events,
    http::{Request, Response, Server},
    init, init_with, legacy,
    lively::{self, WATCHED},
    pending::Pending,
    probe::Probe,
    text, until,
    workers::Shared,
};

/// A server that has the old addresses as well.
fn server(registry: Registry) -> Server {
    let bound = bind(Endpoint::new(registry), "127.0.0.1:0", "/mcp").unwrap();
    Server::run(bound.sse("/sse", "/messages"))
}

fn opening() -> Request {
    Request::get().target("/sse")
}

/// A connection: its stream, and the address to POST to.
struct Connection {
    server: Server,
    events: Events,
    address: String,
}

impl Connection {
    async fn open(server: &Server) -> Self {
        let mut events = Events::open(server, &opening()).await;
        let first = events.event().await;
        assert_eq!(first.name.as_deref(), Some("endpoint"));
        assert_eq!(first.id, None);
        let address = first.data;
        assert!(address.starts_with("/messages?session_id="), "{address}");
        Self {
            server: server.clone(),
            events,
            address,
        }
    }

    fn post(&self, body: &str) -> Request {
        let request = Request::bare("POST").target(&self.address).body(body);
        request.header("Content-Type", "application/json")
    }

    /// Says something, at whichever worker.
    async fn say_at(&self, server: &Server, body: &str) {
        let response = server.send(&self.post(body)).await;
        assert_eq!((response.status, response.text()), (202, ""), "{body}");
    }

    async fn say(&self, body: &str) {
        self.say_at(&self.server, body).await;
    }

    async fn hear(&mut self) -> Value {
        let event = self.events.event().await;
        assert_eq!((event.name.as_deref(), &event.id), (Some("message"), &None));
        event.message()
    }

    async fn shake(&mut self) -> Value {
        self.shake_as(&json!({})).await
    }

    /// The handshake of a client that declares those capabilities.
    async fn shake_as(&mut self, capabilities: &Value) -> Value {
        self.say(&init_with("2024-11-05", capabilities)).await;
        let answer = self.hear().await;
        self.say(INITIALIZED).await;
        answer["result"].clone()
    }
}

// req: sse-two-endpoints, sse-endpoint-event-first, sse-message-events
// req: http-host-legacy-endpoints
#[tokio::test]
async fn a_conversation_over_two_addresses() {
    let server = server(lively::lively(&Probe::default()));
    let mut connection = Connection::open(&server).await;
    let described = connection.shake().await;
    assert_eq!(described["protocolVersion"], "2024-11-05");
    let capabilities = &described["capabilities"];
    assert_eq!(capabilities["tools"]["listChanged"], true);
    assert_eq!(capabilities["resources"]["subscribe"], true);
    let mut params = calling("chatty", json!({"n": 3}));
    params["_meta"] = json!({"progressToken": "p"});
    connection.say(&legacy(2, "tools/call", params)).await;
    for step in 1..=3 {
        let note = connection.hear().await;
        assert_eq!(note["params"]["progress"], f64::from(step));
        assert_eq!(note["params"]["progressToken"], "p");
    }
    let answer = connection.hear().await;
    assert_eq!((&answer["id"], text(&answer["result"])), (&json!(2), "3"));
    for (body, code) in [
        (legacy(3, "nothing", json!({})), -32601),
        ("{".to_owned(), -32700),
    ] {
        connection.say(&body).await;
        assert_eq!(connection.hear().await["error"]["code"], code);
    }
    // The endpoint of today is there as well.
    let post = Request::legacy(init("2025-11-25"));
    assert_eq!(server.send(&post).await.status, 200);
}

// req: sse-post-routed-to-connection
#[tokio::test]
async fn each_connection_hears_its_own_answers() {
    let server = server(lively::lively(&Probe::default()));
    let (mut a, mut b) = tokio::join!(Connection::open(&server), Connection::open(&server));
    assert_ne!(a.address, b.address);
    a.shake().await;
    b.shake().await;
    for (at, connection) in [&a, &b].into_iter().enumerate() {
        let call = calling("put", json!({"name": "who", "text": at.to_string()}));
        connection.say(&legacy(1, "tools/call", call)).await;
    }
    for (at, connection) in [&mut a, &mut b].into_iter().enumerate() {
        assert_eq!(text(&connection.hear().await["result"]), "kept");
        let call = calling("get", json!({"name": "who"}));
        connection.say(&legacy(2, "tools/call", call)).await;
        let answer = connection.hear().await;
        assert_eq!(text(&answer["result"]), at.to_string());
    }
}

#[tokio::test]
async fn an_address_of_nobody_is_refused() {
    let server = server(lively::lively(&Probe::default()));
    let connection = Connection::open(&server).await;
    let ping = legacy(1, "ping", json!({}));
    let status = async |target: &str, body: &str| {
        let request = connection.post(body).target(target);
        server.send(&request).await.status
    };
    for (target, expected) in [
        ("/messages", 400),
        ("/messages?session=x", 400),
        ("/messages?session_id=", 404),
        ("/messages?session_id=made-up", 404),
        ("/messages?session_id=%00", 404),
    ] {
        assert_eq!(status(target, &ping).await, expected, "{target}");
        assert_eq!(
            status(target, &init("2024-11-05")).await,
            expected,
            "{target}"
        );
    }
    let wrong = connection.post(&ping).with("Content-Type", "text/plain");
    assert_eq!(server.send(&wrong).await.status, 415);
    let stream = opening().with("Accept", "application/json");
    assert_eq!(server.send(&stream).await.status, 406);
}

// req: http-origin-validated
#[tokio::test]
async fn foreign_hosts_and_origins_get_403_here_too() {
    let shared = Shared::default();
    let registry = lively::with(&Probe::default(), shared.config());
    let server = server(registry.clone());
    let connection = Connection::open(&server).await;
    let kept = shared.store.len();
    for (name, value) in [("Host", "evil.example"), ("Origin", "https://evil.example")] {
        let refused = |response: Response| assert_eq!(response.status, 403, "{name}");
        refused(server.send(&opening().with(name, value)).await);
        let post = connection.post(&init("2024-11-05"));
        refused(server.send(&post.with(name, value)).await);
    }
    assert_eq!((registry.open_streams(), shared.store.len()), (1, kept));
}

#[tokio::test]
async fn changes_arrive_once_the_handshake_is_made() {
    let registry = lively::lively(&Probe::default());
    let server = server(registry.clone());
    let mut connection = Connection::open(&server).await;
    registry.announce(Change::Prompts);
    connection.shake().await;
    connection.say(&legacy(1, "ping", json!({}))).await;
    assert_eq!(connection.hear().await["id"], 1, "nothing before");
    registry.announce(Change::Tools);
    let told = connection.hear().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");

    let uri = json!({"uri": WATCHED[0]});
    connection.say(&legacy(2, "resources/subscribe", uri)).await;
    assert_eq!(connection.hear().await["result"], json!({}));
    registry.resource_updated(WATCHED[1]);
    registry.resource_updated(WATCHED[0]);
    assert_eq!(connection.hear().await["params"]["uri"], WATCHED[0]);
}

// req: cancel-stops-processing
#[tokio::test]
async fn a_call_is_cancelled_and_others_go_on() {
    let probe = Probe::default();
    let server = server(lively::lively(&probe));
    let mut connection = Connection::open(&server).await;
    connection.shake().await;
    let hold = legacy(7, "tools/call", calling("hold", json!({})));
    connection.say(&hold).await;
    probe.until("hold began").await;
    let cancel = json!({"requestId": 7});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    connection.say(&cancel.to_string()).await;
    probe.until("hold stopped").await;
    connection.say(&legacy(8, "ping", json!({}))).await;
    assert_eq!(connection.hear().await["id"], 8);
}

/// Two workers with the old addresses.
fn workers(probe: &Probe) -> (Shared, [Registry; 2], [Server; 2]) {
    let shared = Shared::default();
    let build = |config: ServerConfig| lively::with(probe, config);
    let registries = [(); 2].map(|()| build(shared.config()));
    let servers = [0, 1].map(|at: usize| server(registries[at].clone()));
    (shared, registries, servers)
}

#[tokio::test]
async fn messages_may_go_to_another_worker() {
    let probe = Probe::default();
    let (shared, registries, [first, second]) = workers(&probe);
    let mut connection = Connection::open(&first).await;
    connection.say_at(&second, &init("2024-11-05")).await;
    let answer = connection.hear().await;
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
    connection.say_at(&second, INITIALIZED).await;
    for server in [&first, &second, &second] {
        let call = calling("count", json!({}));
        connection
            .say_at(server, &legacy(1, "tools/call", call))
            .await;
    }
    let mut counts = Vec::new();
    for _ in 0..3 {
        counts.push(text(&connection.hear().await["result"]).to_owned());
    }
    counts.sort();
    assert_eq!(counts, ["1", "2", "3"]);
    registries[1].announce(Change::Tools);
    let told = connection.hear().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");

    // The end of the stream is the end of all that belongs to it, wherever that is.
    let hold = legacy(7, "tools/call", calling("hold", json!({})));
    connection.say_at(&second, &hold).await;
    probe.until("hold began").await;
    let ping = connection.post(&legacy(8, "ping", json!({})));
    drop(connection.events);
    until(|| shared.store.is_empty()).await;
    probe.until("hold stopped").await;
    for server in [&first, &second] {
        assert_eq!(server.send(&ping).await.status, 404);
    }
    assert_eq!(registries[0].open_streams(), 0);
}

#[tokio::test]
async fn there_are_so_many_connections() {
    let mut config = ServerConfig::default();
    config.limits.max_streams = 2;
    let registry = lively::with(&Probe::default(), config);
    let server = server(registry.clone());
    let held = tokio::join!(Connection::open(&server), Connection::open(&server));
    let response = server.send(&opening()).await;
    assert_eq!(response.status, 503);
    assert!(response.header("retry-after").is_some());
    drop(held);
    until(|| registry.open_streams() == 0).await;
    Connection::open(&server).await;
}

#[tokio::test]
async fn a_server_that_ends_ends_connections() {
    let registry = lively::lively(&Probe::default());
    let server = server(registry.clone());
    let mut connection = Connection::open(&server).await;
    connection.shake().await;
    registry.shut_down();
    assert_eq!(connection.events.rest().await, []);
}

/// An open stream keeps its connection, or ends with it: it does not lead nowhere.
#[tokio::test]
async fn a_client_takes_its_time_before_it_introduces_itself() {
    let mut config = ServerConfig::default();
    config.sessions.handshake = Duration::from_millis(200);
    config.sessions.idle = Duration::from_secs(9);
    let server = server(lively::with(&Probe::default(), config));
    assert_eq!(server.send(&Request::get()).await.status, 405);
    // The housekeeper makes its first round meanwhile, and the next one in three seconds.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut connection = Connection::open(&server).await;
    // Time is what this is about.
    tokio::time::sleep(Duration::from_millis(700)).await;
    let init = connection.post(&init("2024-11-05"));
    let status = server.send(&init).await.status;
    match status {
        202 => assert!(connection.hear().await["result"].is_object()),
        status => {
            assert_eq!(status, 404);
            assert_eq!(connection.events.rest().await, []);
        }
    }
}

/// The model and the roots are asked for on the one stream, and answered at whichever worker;
/// a form goes into a result.
// req: sampling-request-shape, roots-result-shape
#[tokio::test]
async fn a_connection_is_asked_too() {
    let (probe, shared) = (Probe::default(), Shared::default());
    let servers = [0, 1].map(|_| server(curious::with(&probe, shared.config())));
    let mut connection = Connection::open(&servers[0]).await;
    connection.shake_as(&curious::capable()).await;
    for calls in [0, 1] {
        for (tool, said) in [("model", "blue"), ("folders", "file:///a file:///b")] {
            let call = legacy(2, "tools/call", calling(tool, json!({})));
            connection.say_at(&servers[calls], &call).await;
            let question = connection.hear().await;
            let result = match tool {
                "model" => curious::sampled("blue"),
                _ => curious::rooted(),
            };
            let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
            let other = &servers[1 - calls];
            connection.say_at(other, &answer.to_string()).await;
            let reply = connection.hear().await;
            assert_eq!(text(&reply["result"]), said);
        }
    }
    let params = calling("patient", json!({}));
    connection
        .say(&legacy(3, "tools/call", params.clone()))
        .await;
    let asked = connection.hear().await;
    let pending = Pending::of(&params, &asked["result"]).unwrap();
    let retry = pending.answered(|_| curious::filled("it"));
    let retry = legacy(4, "tools/call", retry);
    connection.say_at(&servers[1], &retry).await;
    assert_eq!(text(&connection.hear().await["result"]), "it");
}
