//! What is decided by who asks.

use serde_json::{Value, json};

use super::site::{Row, Site};
use crate::support::{
    calling,
    http::Request,
    legacy,
    login::{USE, bearer, door, of},
    modern,
    session::Session,
};

fn call(name: &str) -> Request {
    let body = modern(1, "tools/call", calling(name, json!({})));
    Request::modern("tools/call", body).header("Mcp-Name", name)
}

fn named(method: &'static str, name: &str, params: Value) -> Request {
    Request::modern(method, modern(1, method, params)).header("Mcp-Name", name)
}

pub(crate) async fn rows() -> Vec<Row> {
    let site = Site::guarded(|_| {});
    let mut rows = shown(&site).await;
    rows.extend(scopes(&site).await);
    rows.extend(nobody().await);
    rows
}

async fn shown(site: &Site) -> Vec<Row> {
    let of = |value: &str| call("now").of(value);
    let expired = bearer(&json!({"sub": "alice", "scope": USE, "exp": -1}));
    let down = bearer(&json!({"down": true}));
    let twice = of(&expired).header("Authorization", &expired);
    vec![
        site.refused("no credentials", call("now")).await,
        site.refused("no credentials, GET", Request::get()).await,
        site.refused("no credentials, DELETE", Request::bare("DELETE"))
            .await,
        site.refused("credentials of another kind", of("Digest abc"))
            .await,
        site.refused("unknown token", of("Bearer abc")).await,
        site.refused("expired token", of(&expired)).await,
        site.refused("`Authorization` is empty", of("")).await,
        site.refused("bearer token is none", of("Bearer a b")).await,
        site.refused("`Authorization` is there twice", twice).await,
        site.refused("nobody can verify it now", of(&down)).await,
    ]
}

async fn scopes(site: &Site) -> Vec<Row> {
    let weak = bearer(&json!({"sub": "alice", "scope": "other"}));
    let poor = of("alice", "");
    let session = Session::of(&site.server, "2025-03-26", &[("Authorization", &poor)]).await;
    let write = legacy(1, "tools/call", calling("write", json!({})));
    let read = legacy(2, "resources/read", json!({"uri": "file:///log"}));
    let batch = session.dressed(Request::post(format!("[{write},{read}]")));
    let log = json!({"uri": "file:///log"});
    let made = json!({"uri": "log://a"});
    let draft = json!({"name": "draft"});
    vec![
        site.refused("scope of the endpoint", call("now").of(&weak))
            .await,
        site.refused("scopes of a tool", call("write").of(&poor))
            .await,
        site.refused(
            "scope of a resource",
            named("resources/read", "file:///log", log).of(&poor),
        )
        .await,
        site.refused(
            "scope of a template",
            named("resources/read", "log://a", made).of(&poor),
        )
        .await,
        site.refused(
            "scope of a prompt",
            named("prompts/get", "draft", draft).of(&poor),
        )
        .await,
        site.refused("scopes of a batch", batch).await,
        site.refused(
            "scope that a handler finds missing",
            call("delete").of(&poor),
        )
        .await,
    ]
}

async fn nobody() -> Vec<Row> {
    let anonymous = Site::new(
        |_| {},
        |endpoint| {
            let door = door().require([] as [&str; 0]).allow_anonymous();
            endpoint.authorization(door.build().unwrap())
        },
    );
    let unguarded = Site::open(|_| {});
    vec![
        anonymous
            .refused("anybody may call, but not this tool", call("write"))
            .await,
        anonymous
            .refused(
                "anybody may call, but the handler takes a principal",
                call("whoami"),
            )
            .await,
        unguarded
            .refused("nobody said who may call this tool", call("write"))
            .await,
        unguarded
            .refused("nobody said who calls", call("whoami"))
            .await,
    ]
}
