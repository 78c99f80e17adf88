//! How those are turned away who may not call: RFC 6750 section 3, RFC 9728 section 5.1.

use mcp_core::{
    Dispatcher, Principal, Reply,
    auth::{
        Authorization, AuthorizationBuilder, Basic, Bearer, ProtectedResource, StaticPasswords,
        StaticTokens,
    },
};
use serde_json::{Value, json};

use crate::support::{
    calling,
    fixture::fixture,
    http::{Request, Response, Server},
    init, legacy,
    logged::Logged,
    login::{Given, LOGIN, METADATA, PUBLIC, USE, Unsigned, bearer, door, guarded, guarded_by, of},
    modern,
    probe::Probe,
    session::Session,
};

/// What somebody is told who shows nothing.
fn welcome() -> String {
    format!(r#"Bearer scope="{USE}", resource_metadata="{METADATA}""#)
}

/// The same of credentials that do not count.
fn refusal(error: &str, description: &str) -> String {
    format!(
        r#"Bearer error="{error}", scope="{USE}", resource_metadata="{METADATA}", error_description="{description}""#
    )
}

fn invalid_token() -> String {
    let description = "the token is expired, or not one for this server";
    refusal("invalid_token", description)
}

fn invalid_request() -> String {
    refusal("invalid_request", "the Authorization header is malformed")
}

/// What the dispatcher says to an `Authorization`, if it turns it away.
async fn turned_away(builder: AuthorizationBuilder, given: &Given) -> Option<Reply> {
    let dispatcher = Dispatcher::new(fixture(&Probe::default()));
    let dispatcher = dispatcher.authorization(builder.build().unwrap());
    dispatcher.admit(given, None).await.err()
}

/// One entry of the table: what is shown, and what comes of it.
async fn check(given: Given, status: u16, challenge: Option<String>) {
    let reply = turned_away(door(), &given).await;
    let reply = reply.unwrap_or_else(|| panic!("let in: {given:?}"));
    let challenges: Vec<&str> = reply.challenges.iter().map(|it| &**it).collect();
    assert_eq!(reply.status, status, "{given:?}");
    assert_eq!(challenges, Vec::from_iter(challenge.as_deref()));
    let body: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
    assert!(body["error"]["message"].is_string(), "{body}");
    assert_eq!(body.get("id"), None, "no message was read: {body}");
}

// req: auth-401-without-token, auth-token-validation, auth-challenge-scope, auth-403-and-400
// req: auth-2025-06-www-authenticate, auth-2026-no-offline-access
#[tokio::test]
async fn what_is_shown_decides_on_the_challenge() {
    let once = |value: &str| Given::authorization(value);
    check(Given::default(), 401, Some(welcome())).await;
    // Credentials of a kind that nobody asked for are none.
    for other in ["Basic abc", "Digest x", "bear x", "Bearertoken"] {
        check(once(other), 401, Some(welcome())).await;
    }
    let expired = bearer(&json!({"sub": "alice", "scope": USE, "exp": -1}));
    for bad in ["Bearer expired", "Bearer e30x", &expired] {
        check(once(bad), 401, Some(invalid_token())).await;
    }
    for malformed in [
        "",
        "   ",
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "Bearer \"a\"",
        "bearer ===",
        "Bearer ü",
    ] {
        check(once(malformed), 400, Some(invalid_request())).await;
    }
    let binary = Given::authorization(b"Bearer \xff\xfe".as_slice());
    check(binary, 400, Some(invalid_request())).await;
    let good = ("authorization", of("alice", "").into_bytes());
    let twice = Given(vec![good.clone(), good]);
    check(twice, 400, Some(invalid_request())).await;
    // Nobody can say that they are wrong: the client is not to throw them away.
    let down = bearer(&json!({"down": true}));
    check(once(&down), 503, None).await;
}

#[tokio::test]
async fn whoever_shows_what_counts_is_let_in() {
    let later = bearer(&json!({"sub": "alice", "scope": USE, "exp": 60}));
    for good in [
        of("alice", ""),
        of("alice", "").replacen("Bearer", "bearer", 1),
        of("alice", "").replacen("Bearer ", "BEARER   ", 1),
        format!("  {}  ", of("alice", "")),
        later,
    ] {
        let reply = turned_away(door(), &Given::authorization(good.as_str())).await;
        assert_eq!(reply, None, "{good}");
    }
}

// req: auth-insufficient-scope-challenge
#[tokio::test]
async fn a_token_without_what_everybody_needs_gets_403() {
    let weak = bearer(&json!({"sub": "alice", "scope": "other"}));
    let description = "the token lacks a scope that this needs";
    let challenge = refusal("insufficient_scope", description);
    check(Given::authorization(weak), 403, Some(challenge)).await;
}

/// RFC 9110 section 11.6.1: one challenge for each kind of credentials that would do.
#[tokio::test]
async fn each_kind_of_credentials_has_a_challenge_of_its_own() {
    let passwords = StaticPasswords::new().password("ops", "long", Principal::new("ops", "ops"));
    let builder = Authorization::builder()
        .policy(Bearer::new(StaticTokens::new()))
        .policy(Bearer::new(Unsigned::default()))
        .policy(Basic::new("a \"quoted\" realm", passwords));
    let server = guarded_by(fixture(&Probe::default()), builder);
    let response = server.send(&Request::legacy(init("2025-11-25"))).await;
    assert_eq!(response.status, 401);
    assert_eq!(
        response.all("www-authenticate"),
        [
            "Bearer",
            "Basic realm=\"a quoted realm\", charset=\"UTF-8\""
        ]
    );
    // Whichever knows them counts, wherever it stands.
    for good in [of("alice", ""), "Basic b3BzOmxvbmc=".to_owned()] {
        let request = Request::legacy(init("2025-11-25")).of(&good);
        assert_eq!(server.send(&request).await.status, 200, "{good}");
    }
    for (bad, status) in [("Basic b3BzOndyb25n", 401), ("Basic ?", 400)] {
        let request = Request::legacy(init("2025-11-25")).of(bad);
        assert_eq!(server.send(&request).await.status, status, "{bad}");
    }
}

/// Whatever the policies are, a token that cannot be verified now is not called wrong.
#[tokio::test]
async fn an_outage_is_no_wrong_token() {
    let down = Given::authorization(bearer(&json!({"down": true})));
    let both = [true, false].map(|first| {
        let builder = Authorization::builder();
        let (unsigned, tokens) = (Bearer::new(Unsigned::default()), StaticTokens::new());
        match first {
            true => builder.policy(unsigned).policy(Bearer::new(tokens)),
            false => builder.policy(Bearer::new(tokens)).policy(unsigned),
        }
    });
    for builder in both {
        let reply = turned_away(builder, &down).await.unwrap();
        assert_eq!((reply.status, reply.retry_after), (503, Some(5)));
        assert!(reply.challenges.is_empty());
    }
}

#[tokio::test]
async fn a_token_that_has_expired_does_not_hide_an_outage() {
    let expired = Principal::new("x", "alice").expires(std::time::SystemTime::UNIX_EPOCH);
    let text = crate::support::login::token(&json!({"down": true}));
    let builder = Authorization::builder()
        .policy(Bearer::new(Unsigned::default()))
        .policy(Bearer::new(StaticTokens::new().token(&text, expired)));
    let given = Given::authorization(format!("Bearer {text}"));
    assert_eq!(turned_away(builder, &given).await.unwrap().status, 503);
}

fn a_session_request(method: &'static str) -> Request {
    match method {
        "POST" => Request::post(legacy(1, "ping", json!({}))),
        "GET" => Request::get(),
        method => Request::bare(method),
    }
}

fn assert_unheard(response: &Response, status: u16, challenge: &str) {
    assert_eq!(response.status, status, "{response:?}");
    assert_eq!(response.all("www-authenticate"), [challenge]);
    assert_eq!(response.header("mcp-session-id"), None);
    assert_eq!(response.header("location"), None);
    assert!(response.message()["error"].is_object());
}

// req: auth-every-request, auth-401-without-token, auth-http-conform
// req: security-session-not-authentication, security-verify-all-requests
#[tokio::test]
async fn every_request_shows_its_credentials_also_within_a_session() {
    let server = guarded(fixture(&Probe::default()));
    let good = of("alice", "");
    let session = Session::of(&server, "2025-11-25", &[("Authorization", &good)]).await;
    for method in ["POST", "GET", "DELETE"] {
        let request = session.dressed(a_session_request(method));
        let nothing = server.send(&request.clone().without("Authorization")).await;
        assert_unheard(&nothing, 401, &welcome());
        let wrong = server.send(&request.clone().of("Bearer junk")).await;
        assert_unheard(&wrong, 401, &invalid_token());
        let malformed = server.send(&request.of("Bearer ?")).await;
        assert_unheard(&malformed, 400, &invalid_request());
    }
    assert_eq!(session.status().await, 200, "nothing has happened to it");
}

// req: auth-401-without-token
#[tokio::test]
async fn nothing_of_a_request_is_processed_before_it() {
    let probe = Probe::default();
    let server = guarded(fixture(&probe));
    let echo = calling("echo", json!({"text": "unheard"}));
    for body in [
        modern(1, "tools/call", echo.clone()),
        "no json".to_owned(),
        String::new(),
        "[".repeat(5000),
    ] {
        let request = Request::modern("tools/call", body).header("Mcp-Name", "echo");
        assert_unheard(&server.send(&request).await, 401, &welcome());
    }
    let request = Request::modern("tools/call", modern(1, "tools/call", echo));
    let request = request.header("Mcp-Name", "echo").of(&of("alice", ""));
    assert_eq!(server.send(&request).await.status, 200);
    assert_eq!(probe.notes(), ["echo unheard"]);
}

/// Whoever did not describe a resource sends nobody to look for it.
#[tokio::test]
async fn without_a_resource_there_is_no_address_to_look_at() {
    let builder = Authorization::builder().policy(Bearer::new(StaticTokens::new()));
    let reply = turned_away(builder, &Given::default()).await.unwrap();
    assert_eq!(reply.challenges, ["Bearer".into()]);
    let builder = Authorization::builder()
        .policy(Bearer::new(StaticTokens::new()))
        .resource(ProtectedResource::new(PUBLIC).authorization_server(LOGIN));
    let reply = turned_away(builder, &Given::default()).await.unwrap();
    let told = format!("Bearer resource_metadata=\"{METADATA}\"");
    assert_eq!(reply.challenges, [told.into()]);
}

// req: auth-no-query-token
#[tokio::test]
async fn a_token_anywhere_else_grants_nothing() {
    let server = guarded(fixture(&Probe::default()));
    let good = of("alice", "");
    let token = good.split_once(' ').unwrap().1;
    let ping = || Request::legacy(init("2025-11-25"));
    for request in [
        ping().target(&format!("/mcp?access_token={token}")),
        ping().target(&format!("/mcp?mcp=2025-11-25&token={token}")),
        ping().header("X-Authorization", &good),
        ping().header("Proxy-Authorization", &good),
        ping().header("Cookie", &format!("access_token={token}")),
        ping().header("Mcp-Session-Id", token),
    ] {
        assert_unheard(&server.send(&request).await, 401, &welcome());
    }
}

/// The HTTP+SSE transport of 2024-11-05 has the same door, at both of its addresses.
#[tokio::test]
async fn the_old_transport_has_the_same_door() {
    let endpoint = mcp_http_actix::Endpoint::new(fixture(&Probe::default()));
    let endpoint = endpoint.authorization(door().build().unwrap());
    let bound = mcp_http_actix::bind(endpoint, "127.0.0.1:0", "/mcp").unwrap();
    let server = Server::run(bound.sse("/sse", "/messages"));
    let stream = server.send(&Request::get().target("/sse")).await;
    assert_unheard(&stream, 401, &welcome());
    let message = Request::post(init("2024-11-05")).target("/messages?session_id=x");
    assert_unheard(&server.send(&message).await, 401, &welcome());
    let known = message.of(&of("alice", ""));
    assert_eq!(server.send(&known).await.status, 404);
}

// req: auth-secure-token-storage
#[tokio::test]
async fn no_credentials_are_logged() {
    let logged = Logged::begin();
    let secrets = [
        bearer(&json!({"down": true, "jti": "secret"})),
        bearer(&json!({"sub": "mallory", "scope": "none"})),
        bearer(&json!({"sub": "mallory", "scope": USE, "exp": -5})),
        "Bearer c2VjcmV0".to_owned(),
        "Bearer sec ret".to_owned(),
    ];
    for secret in &secrets {
        let given = Given::authorization(secret.as_str());
        assert!(turned_away(door(), &given).await.is_some());
    }
    let text = logged.text();
    assert!(text.lines().count() >= secrets.len(), "{text}");
    for secret in secrets {
        let (_, secret) = secret.split_once(' ').unwrap();
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(!text.contains("mallory"), "{text}");
}

/// What an operator can print tells neither tokens nor people.
// req: auth-secure-token-storage
#[test]
fn what_is_kept_is_not_shown() {
    let alice = Principal::new("issuer", "alice").client("app");
    let tokens = StaticTokens::new().token("the-secret-token", alice.clone());
    let passwords = StaticPasswords::new().password("alice", "the-secret-word", alice.clone());
    let authorization = Authorization::builder()
        .policy(Bearer::new(tokens))
        .policy(Basic::new("realm", passwords))
        .build()
        .unwrap();
    let shown = format!("{authorization:?} {alice:?}");
    for secret in ["the-secret", "alice", "issuer", "app"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}
