//! What strangers may do, who are told apart by where they come from.

use mcp_core::{FailureKind, Rate, Registry, ServerConfig};
use mcp_http_actix::Endpoint;
use serde_json::json;

use crate::support::{
    events::Events,
    http::{Request, Response, Server},
    lively,
    login::{bearer, door, of},
    modern,
    probe::Probe,
    until,
};

/// A server that believes what its proxy says of where a request comes from.
fn endpoint(change: impl Fn(&mut ServerConfig)) -> (Endpoint, Registry) {
    let mut config = ServerConfig::default();
    config.limits.rate = Some(Rate::new(1, 3));
    change(&mut config);
    let registry = lively::with(&Probe::default(), config);
    let endpoint = Endpoint::new(registry.clone()).source(|request| {
        let address = request.headers().get("X-Real-IP")?;
        Some(address.to_str().ok()?.to_owned())
    });
    (endpoint, registry)
}

fn list(from: &str) -> Request {
    let body = modern(1, "tools/list", json!({}));
    Request::modern("tools/list", body).header("X-Real-IP", from)
}

fn assert_greedy(response: &Response) {
    assert_eq!(response.status, 429, "{response:?}");
    assert_eq!(response.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn each_of_them_has_a_rate_of_his_own() {
    let (endpoint, registry) = endpoint(|_| ());
    let server = Server::start(endpoint);
    for _ in 0..3 {
        assert_eq!(server.send(&list("192.0.2.1")).await.status, 200);
    }
    assert_greedy(&server.send(&list("192.0.2.1")).await);
    assert_eq!(server.send(&list("2001:db8::1")).await.status, 200);
    assert_eq!(registry.usage().refused(FailureKind::TooManyRequests), 1);
}

#[tokio::test]
async fn each_of_them_has_so_many_streams() {
    let (endpoint, registry) = endpoint(|config| config.limits.max_streams_per_principal = 1);
    let server = Server::start(endpoint);
    let listen = |from: &str| {
        let method = "subscriptions/listen";
        let params = json!({"notifications": {"toolsListChanged": true}});
        Request::modern(method, modern(1, method, params)).header("X-Real-IP", from)
    };
    let held = Events::open(&server, &listen("192.0.2.1")).await;
    let refused = server.send(&listen("192.0.2.1")).await;
    assert_eq!(refused.status, 429, "{refused:?}");
    let other = Events::open(&server, &listen("192.0.2.2")).await;
    drop((held, other));
    until(|| registry.open_streams() == 0).await;
}

/// Whoever tries tokens is not listened to for long, and keeps nobody else from coming in.
#[tokio::test]
async fn guesses_are_charged_to_whoever_guesses() {
    let (endpoint, registry) = endpoint(|_| ());
    let server = Server::start(endpoint.authorization(door().build().unwrap()));
    // Whoever shows nothing guesses nothing.
    for _ in 0..5 {
        assert_eq!(server.send(&list("192.0.2.1")).await.status, 401);
    }
    for _ in 0..3 {
        let guess = list("192.0.2.1").of("Bearer guess");
        assert_eq!(server.send(&guess).await.status, 401);
    }
    assert_greedy(&server.send(&list("192.0.2.1").of("Bearer guess")).await);
    // Even what is right is not looked at.
    assert_greedy(&server.send(&list("192.0.2.1").of(&of("alice", ""))).await);
    assert_eq!(
        server
            .send(&list("192.0.2.2").of(&of("alice", "")))
            .await
            .status,
        200
    );
    assert_eq!(registry.usage().refused(FailureKind::Unauthorized), 8);
}

/// Whoever is known is charged himself, wherever he comes from.
#[tokio::test]
async fn principals_are_not_charged_to_where_they_come_from() {
    let (endpoint, _) = endpoint(|_| ());
    let server = Server::start(endpoint.authorization(door().build().unwrap()));
    for subject in ["a", "b", "c", "d", "e"] {
        assert_eq!(
            server
                .send(&list("192.0.2.1").of(&of(subject, "")))
                .await
                .status,
            200
        );
    }
    let token = bearer(&json!({"sub": "a", "scope": "mcp:use"}));
    for from in ["192.0.2.3", "192.0.2.4"] {
        assert_eq!(server.send(&list(from).of(&token)).await.status, 200);
    }
    assert_greedy(&server.send(&list("192.0.2.5").of(&token)).await);
}

/// Strangers at an address take nothing from those who log in from there.
#[tokio::test]
async fn a_flood_of_strangers_keeps_nobody_from_coming_in() {
    let (endpoint, _) = endpoint(|_| ());
    let door = door().require([""; 0]).allow_anonymous();
    let server = Server::start(endpoint.authorization(door.build().unwrap()));
    for _ in 0..3 {
        assert_eq!(server.send(&list("192.0.2.1")).await.status, 200);
    }
    for _ in 0..5 {
        assert_greedy(&server.send(&list("192.0.2.1")).await);
    }
    let known = list("192.0.2.1").of(&of("alice", ""));
    assert_eq!(server.send(&known).await.status, 200);
}
