//! A32, A33 and A34: how a client finds out where to log in, and whether its token is for this
//! server.

use mcp_core::{
    Registry, ServerConfig,
    auth::{Authorization, Bearer, ProtectedResource},
    tool,
};
use mcp_http_actix::{Endpoint, bind};
use serde_json::{Value, json};

use crate::support::{
    fixture::stateless,
    http::{Request, Response, Server},
    init,
    login::{LOGIN, METADATA, PUBLIC, USE, Unsigned, bearer, guarded, of},
    probe::Probe,
};

fn a32_check(response: &Response, error: Option<&str>) {
    assert_eq!(response.status, 401, "{response:?}");
    assert_eq!(response.header("mcp-session-id"), None);
    assert_eq!(response.header("location"), None);
    let challenges = response.all("www-authenticate");
    let [challenge] = challenges[..] else {
        panic!("no one challenge: {challenges:?}");
    };
    let said = |name: &str, value: &str| challenge.contains(&format!("{name}=\"{value}\""));
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert!(said("resource_metadata", METADATA), "{challenge}");
    assert!(said("scope", USE), "{challenge}");
    match error {
        Some(error) => assert!(said("error", error), "{challenge}"),
        None => assert!(!challenge.contains("error"), "{challenge}"),
    }
}

// req: auth-401-without-token, auth-metadata-discovery, auth-challenge-scope, auth-no-query-token
// req: auth-2025-06-www-authenticate, auth-http-conform
#[tokio::test]
async fn a32_the_401_says_where_to_go() {
    let server = guarded(stateless(&Probe::default()));
    let begin = || Request::post(init("2025-11-25"));
    for request in [
        begin(),
        begin().target("/mcp/"),
        Request::bare("GET"),
        Request::bare("DELETE"),
        begin().of("Basic abc"),
        // A proxy's view of the address is not the public one.
        begin()
            .header("X-Forwarded-Host", "evil.example")
            .header("X-Forwarded-Proto", "http"),
        begin().header("Forwarded", "host=evil.example;proto=http"),
    ] {
        a32_check(&server.send(&request).await, None);
    }
    a32_check(
        &server.send(&begin().of("Bearer expired")).await,
        Some("invalid_token"),
    );
    let good = of("alice", "");
    let token = good.split_once(' ').unwrap().1;
    let in_query = begin().target(&format!("/mcp?access_token={token}"));
    a32_check(&server.send(&in_query).await, None);
    for spelling in ["Bearer", "bearer", "BEARER"] {
        let request = begin().of(&format!("{spelling} {token}"));
        assert_eq!(server.send(&request).await.status, 200, "{spelling}");
    }
    // Where the challenge points, there is a document, and it is of this server.
    let path = METADATA.strip_prefix("https://mcp.example.com").unwrap();
    let response = server.send(&Request::bare("GET").target(path)).await;
    let document: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(
        (response.status, &document["resource"]),
        (200, &json!(PUBLIC))
    );
}

/// The door of an endpoint at that public address.
fn at(public_url: &'static str) -> Authorization {
    let verifier = Unsigned {
        resource: Some(public_url),
    };
    Authorization::builder()
        .policy(Bearer::new(verifier))
        .resource(ProtectedResource::new(public_url).authorization_server(LOGIN))
        .build()
        .unwrap()
}

fn named(name: &'static str, public_url: &'static str) -> Endpoint {
    let registry = Registry::builder(name, "1").tool(tool("who", move || async move { name }));
    let registry = registry.build(ServerConfig::default()).unwrap();
    Endpoint::new(registry).authorization(at(public_url))
}

// req: auth-protected-resource-metadata, auth-metadata-discovery
#[tokio::test]
async fn a33_the_metadata_of_a_server_under_a_path() {
    let public = "https://mcp.example.com/public/mcp";
    let bound = bind(named("a", public), "127.0.0.1:0", "/public/mcp").unwrap();
    let server = Server::under("/public/mcp", bound);
    let get = async |path: &str| server.send(&Request::bare("GET").target(path)).await;
    let well_known = "/.well-known/oauth-protected-resource";
    let documents = [
        get(&format!("{well_known}/public/mcp")).await,
        get(well_known).await,
    ];
    for response in &documents {
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(response.header("content-type"), Some("application/json"));
        let document: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(document["resource"], public);
        assert_eq!(document["authorization_servers"], json!([LOGIN]));
    }
    let elsewhere = get(&format!("/public/mcp{well_known}")).await;
    assert_eq!(elsewhere.status, 404, "{elsewhere:?}");
    let begin = Request::post(init("2025-11-25")).target("/public/mcp");
    let response = server.send(&begin).await;
    let told = format!("resource_metadata=\"https://mcp.example.com{well_known}/public/mcp\"");
    let challenge = response.header("www-authenticate").unwrap();
    assert!(challenge.contains(&told), "{challenge}");
}

#[actix_web::test]
async fn a33_two_endpoints_in_one_process_have_a_document_each() {
    use actix_web::{App, test, web};
    use mcp_http_actix::MetadataRoutes;
    let (one, two) = (
        named("a", "https://mcp.example.com/a/mcp"),
        named("b", "https://mcp.example.com/b/mcp"),
    );
    let app = App::new()
        .service(MetadataRoutes::of([&one, &two]).unwrap())
        .service(web::scope("/a").service(one.at("/mcp")))
        .service(web::scope("/b").service(two.at("/mcp")));
    let app = test::init_service(app).await;
    for (path, resource) in [
        ("/a/mcp", Some("https://mcp.example.com/a/mcp")),
        ("/b/mcp", Some("https://mcp.example.com/b/mcp")),
        ("", None),
        ("/mcp", None),
    ] {
        let uri = format!("/.well-known/oauth-protected-resource{path}");
        let request = test::TestRequest::get().uri(&uri).to_request();
        let response = test::call_service(&app, request).await;
        let found = response.status() == 200;
        let document: Option<Value> = serde_json::from_slice(&test::read_body(response).await).ok();
        let told = document.filter(|_| found).map(|it| it["resource"].clone());
        assert_eq!(told, resource.map(|it| json!(it)), "{uri}");
    }
}

/// Signatures are the verifier's; this is what every verifier asks `same_resource`.
// req: auth-audience-validation, auth-canonical-uri, security-token-passthrough-forbidden
#[tokio::test]
async fn a34_is_this_token_for_this_server() {
    let with_path = [
        (json!("https://mcp.example.com/mcp"), true),
        (json!(["x", "https://mcp.example.com/mcp"]), true),
        (json!("HTTPS://MCP.example.com:443/mcp"), true),
        (json!("https://other.example/mcp"), false),
        (json!("https://mcp.example.com"), false),
        (json!("https://mcp.example.com/mcp/"), false),
        (json!("https://mcp.example.com/mcp.evil"), false),
        (json!("https://mcp.example.com/MCP"), false),
        (json!("http://mcp.example.com/mcp"), false),
        (json!("https://mcp.example.com:8443/mcp"), false),
        (json!(["https://mcp.example.com", 42]), false),
        (json!([]), false),
        (json!(null), false),
        (json!(42), false),
        (json!({"https://mcp.example.com/mcp": true}), false),
    ];
    a34_check(PUBLIC, &with_path).await;
    let bare = [
        (json!("https://mcp.example.com"), true),
        (json!("https://mcp.example.com/"), true),
        (json!("https://mcp.example.com/mcp"), false),
        (json!("https://mcp.example.com.evil.example"), false),
    ];
    a34_check("https://mcp.example.com", &bare).await;
    a34_check("https://mcp.example.com/", &bare).await;
}

async fn a34_check(public_url: &'static str, audiences: &[(Value, bool)]) {
    let endpoint = Endpoint::new(stateless(&Probe::default())).authorization(at(public_url));
    let server = Server::start(endpoint);
    for (audience, accepted) in audiences {
        let token = bearer(&json!({"sub": "alice", "aud": audience}));
        let begin = Request::post(init("2025-11-25")).of(&token);
        let response = server.send(&begin).await;
        let status = if *accepted { 200 } else { 401 };
        assert_eq!(response.status, status, "{public_url}: {audience}");
        if !accepted {
            let challenge = response.header("www-authenticate").unwrap();
            assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
        }
    }
    // One that says nothing of it is for nobody.
    let begin = Request::post(init("2025-11-25")).of(&bearer(&json!({"sub": "alice"})));
    assert_eq!(server.send(&begin).await.status, 401);
}
