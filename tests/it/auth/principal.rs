//! Who calls, as a handler is told.

use std::sync::Arc;

use mcp_core::{
    Dispatcher, Exchange, Incoming, Message, Principal, Registry, ServerConfig, prompt, resource,
    tool,
};
use mcp_http_actix::Endpoint;
use serde_json::{Value, json};

use crate::support::{
    calling,
    http::{Request, Response, Server},
    login::{METADATA, bearer, door, guarded, guarded_by},
    modern, text,
};

fn registry() -> Registry {
    Registry::builder("names", "1")
        .tool(tool("owned", async |(): (), principal: Principal| {
            let issued: u64 = principal.claim("iat").unwrap_or_default();
            let Principal {
                issuer,
                client,
                subject,
                scopes,
                ..
            } = principal;
            format!("{subject} of {issuer} by {client} may {scopes} since {issued}")
        }))
        .tool(tool("shared", async |(): (), principal: Arc<Principal>| {
            principal.subject.clone()
        }))
        .tool(tool(
            "maybe",
            async |(): (), principal: Option<Arc<Principal>>| {
                principal.map_or_else(|| "nobody".to_owned(), |it| it.subject.clone())
            },
        ))
        .tool(tool("asked", async |(): (), exchange: Exchange| {
            exchange
                .principal()
                .map(|it| it.identity())
                .unwrap_or_default()
        }))
        .prompt(prompt("greeting", async |(): (), principal: Principal| {
            format!("Greet {}.", principal.subject)
        }))
        .resource(resource(
            "me://name",
            async |(): (), principal: Principal| principal.subject,
        ))
        .build(ServerConfig::default())
        .unwrap()
}

fn call(name: &str) -> Request {
    let body = modern(1, "tools/call", calling(name, json!({})));
    Request::modern("tools/call", body).header("Mcp-Name", name)
}

async fn said(server: &Server, request: Request) -> String {
    let response = server.send(&request).await;
    assert_eq!(response.status, 200, "{response:?}");
    text(&response.message()["result"]).to_owned()
}

fn alice() -> String {
    bearer(&json!({
        "iss": "https://login.example.com",
        "azp": "app",
        "sub": "alice",
        "scope": "mcp:use files:read",
        "iat": 1_700_000_000,
    }))
}

#[tokio::test]
async fn a_handler_is_told_who_calls() {
    let server = guarded(registry());
    let of = async |name| said(&server, call(name).of(&alice())).await;
    assert_eq!(
        of("owned").await,
        "alice of https://login.example.com by app may files:read mcp:use since 1700000000"
    );
    assert_eq!(of("shared").await, "alice");
    assert_eq!(of("maybe").await, "alice");
    let identity = Principal::new("https://login.example.com", "alice").client("app");
    assert_eq!(of("asked").await, identity.identity());

    let get = modern(1, "prompts/get", json!({"name": "greeting"}));
    let get = Request::modern("prompts/get", get).header("Mcp-Name", "greeting");
    let message = server.send(&get.of(&alice())).await.message();
    assert_eq!(
        message["result"]["messages"][0]["content"]["text"],
        "Greet alice."
    );
    let read = modern(1, "resources/read", json!({"uri": "me://name"}));
    let read = Request::modern("resources/read", read).header("Mcp-Name", "me://name");
    let message = server.send(&read.of(&alice())).await.message();
    assert_eq!(message["result"]["contents"][0]["text"], "alice");
}

fn assert_log_in(response: &Response) {
    assert_eq!(response.status, 401, "{response:?}");
    let challenge = format!("Bearer resource_metadata=\"{METADATA}\"");
    assert_eq!(response.all("www-authenticate"), [challenge]);
}

/// A handler that takes a principal is never called without one.
#[tokio::test]
async fn where_anybody_may_call_such_a_handler_asks_to_log_in() {
    let door = door().require([] as [&str; 0]).allow_anonymous();
    let server = guarded_by(registry(), door);
    assert_eq!(said(&server, call("maybe")).await, "nobody");
    assert_eq!(said(&server, call("asked")).await, "");
    for name in ["owned", "shared"] {
        assert_log_in(&server.send(&call(name)).await);
    }
    let get = modern(1, "prompts/get", json!({"name": "greeting"}));
    let get = Request::modern("prompts/get", get).header("Mcp-Name", "greeting");
    assert_log_in(&server.send(&get).await);
    let read = modern(1, "resources/read", json!({"uri": "me://name"}));
    let read = Request::modern("resources/read", read).header("Mcp-Name", "me://name");
    assert_log_in(&server.send(&read).await);
    assert_eq!(said(&server, call("shared").of(&alice())).await, "alice");
}

#[tokio::test]
async fn without_an_authorization_such_a_handler_is_for_nobody() {
    let server = Server::of(registry());
    assert_eq!(said(&server, call("maybe")).await, "nobody");
    for name in ["owned", "shared"] {
        let response = server.send(&call(name)).await;
        assert_eq!(response.status, 403, "{response:?}");
        assert_eq!(response.header("www-authenticate"), None);
    }
    let endpoint = Endpoint::new(registry()).identify(|_| Some(Principal::new("app", "carol")));
    let server = Server::start(endpoint);
    assert_eq!(said(&server, call("shared")).await, "carol");
}

/// Who is verified by a token is not who the application says.
#[tokio::test]
async fn a_token_counts_before_what_the_application_says() {
    let endpoint = Endpoint::new(registry())
        .authorization(door().build().unwrap())
        .identify(|_| Some(Principal::new("app", "carol")));
    let server = Server::start(endpoint);
    assert_eq!(said(&server, call("shared").of(&alice())).await, "alice");
    assert_eq!(server.send(&call("shared")).await.status, 401);
}

/// On a pipe nobody has logged in: a handler says so itself, where it has to know.
// req: auth-stdio-environment
#[tokio::test]
async fn on_a_pipe_there_is_a_principal_only_if_the_program_says_so() {
    let dispatcher = Dispatcher::new(registry());
    let call = async |name: &str, principal: Option<&Arc<Principal>>| {
        let body = modern(1, "tools/call", calling(name, json!({})));
        let incoming = Incoming::new(body.into()).principal(principal).local();
        match dispatcher.answer(&incoming).next().await {
            Some(Message::Reply(reply)) => {
                let message: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
                let failed = message["result"]["isError"] == true;
                (failed, text(&message["result"]).to_owned())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(call("maybe", None).await, (false, "nobody".to_owned()));
    let (failed, said) = call("shared", None).await;
    assert!(failed && said.contains("logged in"), "{said}");
    let owner = Arc::new(Principal::new("env", "owner"));
    assert_eq!(
        call("shared", Some(&owner)).await,
        (false, "owner".to_owned())
    );
}

/// What a handler has of the credentials is what the verifier made of them: there is no token to
/// pass on.
// req: auth-no-token-passthrough
#[tokio::test]
async fn a_handler_is_never_handed_the_token() {
    let registry = Registry::builder("nosy", "1").tool(tool(
        "nosy",
        async |(): (), exchange: Exchange, principal: Principal| {
            let Principal {
                issuer,
                client,
                subject,
                claims,
                ..
            } = &principal;
            let info = exchange.client_info();
            let claims = serde_json::to_string(claims).unwrap();
            format!("{exchange:?} {principal:?} {issuer} {client} {subject} {claims} {info:?}")
        },
    ));
    let server = guarded(registry.build(ServerConfig::default()).unwrap());
    let who = alice();
    let said = said(&server, call("nosy").of(&who)).await;
    let (_, token) = who.split_once(' ').unwrap();
    assert!(said.contains("alice"), "{said}");
    assert!(!said.contains(token), "{said}");
}
