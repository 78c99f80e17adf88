//! The verifiers behind the door that a server has.

use mcp_auth::JwtVerifier;
use mcp_core::{
    Dispatcher, HeaderValue, Headers, Registry, Reply, ServerConfig,
    auth::{Authorization, Bearer, ProtectedResource},
};
use serde_json::{Value, json};

use crate::support::{AUDIENCE, ISSUER, claims_but, token, verifier};

/// The one header that matters.
struct Shown(String);

impl Headers for Shown {
    fn value(&self, name: &str) -> HeaderValue<'_> {
        match name {
            "authorization" => HeaderValue::Once(self.0.as_bytes()),
            _ => HeaderValue::Absent,
        }
    }
}

fn server(verifier: JwtVerifier) -> Dispatcher {
    let registry = Registry::builder("demo", "1.0.0").build(ServerConfig::default());
    let authorization = Authorization::builder()
        .policy(Bearer::new(verifier))
        .resource(ProtectedResource::new(AUDIENCE).authorization_server(ISSUER))
        .require(["mcp:use"])
        .build();
    Dispatcher::new(registry.unwrap()).authorization(authorization.unwrap())
}

async fn turned_away(server: &Dispatcher, token: &str) -> Reply {
    let shown = Shown(format!("Bearer {token}"));
    server.admit(&shown, None).await.unwrap_err()
}

fn with_scope(but: &Value) -> String {
    let mut claims = claims_but(but);
    claims["scope"] = json!("mcp:use");
    token(&claims)
}

// req: auth-token-validation, auth-audience-validation
#[tokio::test]
async fn a34_a_token_for_another_server_is_401_and_says_no_more_than_that() {
    let server = server(verifier());
    let good = Shown(format!("Bearer {}", with_scope(&json!({}))));
    let principal = server.admit(&good, None).await.unwrap().unwrap();
    assert_eq!(principal.subject, "alice");
    let metadata = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
    for but in [
        json!({"aud": "https://mcp.example.com"}),
        json!({"iss": "https://evil.example"}),
        json!({"exp": 1}),
        json!({ "sub": null }),
    ] {
        let reply = turned_away(&server, &with_scope(&but)).await;
        assert_eq!(reply.status, 401, "{but}");
        let [challenge] = &*reply.challenges else {
            panic!("{:?}", reply.challenges);
        };
        assert!(challenge.starts_with("Bearer error=\"invalid_token\", scope=\"mcp:use\""));
        assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")));
        let body = String::from_utf8(reply.body.unwrap().to_vec()).unwrap();
        for told in [body.as_str(), challenge] {
            assert!(!told.contains("evil") && !told.contains("alice"), "{told}");
        }
    }
}

#[tokio::test]
async fn a_token_without_the_scope_is_403() {
    let reply = turned_away(&server(verifier()), &token(&claims_but(&json!({})))).await;
    assert_eq!(reply.status, 403);
    assert!(reply.challenges[0].contains("error=\"insufficient_scope\""));
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_token_of_which_nobody_can_tell_is_503() {
    let nowhere = crate::server::Server::start().await;
    let keys = mcp_auth::KeySource::url(nowhere.url("/jwks.json"));
    let verifier = crate::support::builder().keys(keys).build().unwrap();
    let reply = turned_away(&server(verifier), &with_scope(&json!({}))).await;
    assert_eq!(reply.status, 503);
    assert!(reply.challenges.is_empty());
}
