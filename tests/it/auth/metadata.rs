//! Where clients learn who issues tokens: RFC 9728 section 3.

use actix_web::{
    App,
    test::{TestRequest, call_service, init_service, read_body},
    web,
};
use mcp_core::auth::{Authorization, Bearer, ProtectedResource};
use mcp_http_actix::{Endpoint, MetadataRoutes};
use serde_json::{Value, json};

use crate::support::{
    fixture::stateless,
    http::{Request, Response},
    login::{LOGIN, PUBLIC, USE, Unsigned, guarded},
    probe::Probe,
};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// An endpoint that tells its clients that address.
fn endpoint(resource: ProtectedResource) -> Endpoint {
    let authorization = Authorization::builder()
        .policy(Bearer::new(Unsigned::default()))
        .resource(resource)
        .require([USE])
        .build()
        .unwrap();
    Endpoint::new(stateless(&Probe::default())).authorization(authorization)
}

fn at(address: &str) -> ProtectedResource {
    ProtectedResource::new(address).authorization_server(LOGIN)
}

/// The status at each address, and the `resource` of its document.
macro_rules! look {
    ($app:expr, $addresses:expr) => {{
        let mut found = Vec::new();
        for address in $addresses {
            let response = call_service(&$app, TestRequest::get().uri(address).to_request()).await;
            let status = response.status().as_u16();
            let body = read_body(response).await;
            let document: Value = serde_json::from_slice(&body).unwrap_or_default();
            let resource = document["resource"].as_str().map(str::to_owned);
            found.push((status, resource));
        }
        found
    }};
}

fn found(resource: &str) -> (u16, Option<String>) {
    (200, Some(resource.to_owned()))
}

const NOTHING: (u16, Option<String>) = (404, None);

fn document(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.header("content-type"), Some("application/json"));
    serde_json::from_slice(&response.body).unwrap()
}

// req: auth-protected-resource-metadata, auth-metadata-discovery, auth-canonical-uri
// req: auth-2026-no-offline-access
#[tokio::test]
async fn the_document_is_at_both_addresses_for_everybody() {
    let server = guarded(stateless(&Probe::default()));
    for path in [&format!("{WELL_KNOWN}/mcp"), WELL_KNOWN] {
        for request in [
            Request::bare("GET"),
            Request::bare("GET").of("Bearer junk"),
            Request::bare("GET").header("Accept", "text/html"),
        ] {
            let response = server.send(&request.target(path)).await;
            let expected = json!({
                "resource": PUBLIC,
                "authorization_servers": [LOGIN],
                "scopes_supported": [USE],
                "bearer_methods_supported": ["header"],
            });
            assert_eq!(document(&response), expected, "{path}");
            assert_eq!(response.header("www-authenticate"), None);
            let cached = response.header("cache-control").unwrap();
            assert!(cached.contains("public"), "{cached}");
        }
        let post = server.send(&Request::post("{}").target(path)).await;
        assert_eq!(
            (post.status, post.header("allow")),
            (405, Some("GET, HEAD"))
        );
        let head = server.open(&Request::bare("HEAD").target(path)).await;
        assert_eq!(head.status(), 200);
    }
    // A page of another site learns nothing through its visitor, whose name for the server is its.
    let foreign = Request::bare("GET").target(WELL_KNOWN);
    let response = server.send(&foreign.with("Host", "evil.example")).await;
    assert_eq!(response.status, 403);
}

#[actix_web::test]
async fn everything_that_was_said_of_the_resource_is_in_its_document() {
    let resource = at("https://mcp.example.com/mcp")
        .authorization_server("https://other.example/tenant")
        .name("Ledger")
        .documentation("https://docs.example.com/ledger")
        .scopes_supported(["mcp:use", "ledger:read"]);
    let app = App::new().service(endpoint(resource).at("/mcp"));
    let app = init_service(app).await;
    let uri = format!("{WELL_KNOWN}/mcp");
    let response = call_service(&app, TestRequest::get().uri(&uri).to_request()).await;
    let document: Value = serde_json::from_slice(&read_body(response).await).unwrap();
    let expected = json!({
        "resource": "https://mcp.example.com/mcp",
        "authorization_servers": [LOGIN, "https://other.example/tenant"],
        "scopes_supported": ["ledger:read", "mcp:use"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Ledger",
        "resource_documentation": "https://docs.example.com/ledger",
    });
    assert_eq!(document, expected);
}

// req: auth-metadata-discovery
#[actix_web::test]
async fn under_a_prefix_the_application_serves_it_at_the_root() {
    let endpoint = endpoint(at("https://mcp.example.com/public/mcp"));
    let metadata = MetadataRoutes::of([&endpoint]).unwrap();
    let app = App::new()
        .service(metadata)
        .service(web::scope("/public").service(endpoint.at("/mcp")));
    let app = init_service(app).await;
    let addresses = [
        &format!("{WELL_KNOWN}/public/mcp"),
        WELL_KNOWN,
        &format!("/public{WELL_KNOWN}/public/mcp"),
        &format!("/public/mcp{WELL_KNOWN}"),
        &format!("{WELL_KNOWN}/mcp"),
        &format!("{WELL_KNOWN}/public/mcp/x"),
    ];
    let here = || found("https://mcp.example.com/public/mcp");
    assert_eq!(
        look!(app, addresses),
        [here(), here(), NOTHING, NOTHING, NOTHING, NOTHING]
    );
    let request = TestRequest::post().uri("/public/mcp").set_payload("{}");
    let request = request.insert_header(("Content-Type", "application/json"));
    let response = call_service(&app, request.to_request()).await;
    assert_eq!(response.status(), 401);
    let challenge = response.headers().get("www-authenticate").unwrap();
    let told = r#"resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/public/mcp""#;
    assert!(challenge.to_str().unwrap().contains(told), "{challenge:?}");
}

#[actix_web::test]
async fn two_endpoints_have_a_document_each_and_none_without_a_path() {
    let (one, two) = (
        endpoint(at("https://mcp.example.com/one")),
        endpoint(at("https://mcp.example.com/two")),
    );
    let metadata = MetadataRoutes::of([&one, &two]).unwrap();
    let app = App::new()
        .service(metadata)
        .service(one.at("/one"))
        .service(two.at("/two"));
    let app = init_service(app).await;
    let addresses = [
        &format!("{WELL_KNOWN}/one"),
        &format!("{WELL_KNOWN}/two"),
        WELL_KNOWN,
    ];
    assert_eq!(
        look!(app, addresses),
        [
            found("https://mcp.example.com/one"),
            found("https://mcp.example.com/two"),
            NOTHING
        ]
    );
}

#[actix_web::test]
async fn two_endpoints_at_one_address_share_a_document_or_contradict_one_another() {
    let one = endpoint(at(PUBLIC));
    // The same address in other words.
    let same = endpoint(at("HTTPS://MCP.example.com:443/mcp"));
    let silent = Endpoint::new(stateless(&Probe::default()));
    let routes = MetadataRoutes::of([&one, &same, &one, &silent]).unwrap();
    let app = init_service(App::new().service(routes)).await;
    let addresses = [&format!("{WELL_KNOWN}/mcp"), WELL_KNOWN];
    assert_eq!(look!(app, addresses), [found(PUBLIC), found(PUBLIC)]);

    let others = [
        at(PUBLIC).authorization_server("https://other.example"),
        at(PUBLIC).scopes_supported(["other"]),
        at(PUBLIC).name("another one"),
        at("https://mcp.other.example/mcp"),
        at("https://mcp.example.com/mcp?x=1"),
    ];
    for other in others {
        let refused = MetadataRoutes::of([&one, &endpoint(other)]).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("contradict"), "{refused}");
        assert!(refused.contains(WELL_KNOWN), "{refused}");
    }
}

#[actix_web::test]
async fn who_describes_no_resource_has_no_document() {
    let authorization = Authorization::builder()
        .policy(Bearer::new(Unsigned::default()))
        .build()
        .unwrap();
    let endpoint = Endpoint::new(stateless(&Probe::default())).authorization(authorization);
    let metadata = MetadataRoutes::of([&endpoint]).unwrap();
    let app = App::new().service(metadata).service(endpoint.at("/mcp"));
    let app = init_service(app).await;
    let addresses = [&format!("{WELL_KNOWN}/mcp"), WELL_KNOWN];
    assert_eq!(look!(app, addresses), [NOTHING, NOTHING]);
}

/// At the root of the site both addresses are one.
#[actix_web::test]
async fn an_endpoint_at_the_root_has_one_address() {
    let endpoint = endpoint(at("https://mcp.example.com/"));
    let metadata = MetadataRoutes::of([&endpoint]).unwrap();
    let app = init_service(App::new().service(metadata).service(endpoint.at("/"))).await;
    let addresses = [WELL_KNOWN, &format!("{WELL_KNOWN}/")];
    let found = look!(app, addresses);
    assert_eq!(found[0], (200, Some("https://mcp.example.com".to_owned())));
}

/// RFC 8414 section 2 and RFC 9728 section 1.2: addresses are `https`, scopes are the RFC's.
// req: auth-2026-no-offline-access, auth-oauth21-security, auth-protected-resource-metadata
#[test]
fn what_clients_could_not_use_is_refused_when_the_server_is_built() {
    let built = |resource: ProtectedResource, scopes: &[&str]| {
        let builder = Authorization::builder()
            .policy(Bearer::new(Unsigned::default()))
            .resource(resource)
            .require(scopes.to_vec());
        let refused = builder.build().map(drop);
        refused.unwrap_err().to_string()
    };
    let of = |address: &str| built(at(address), &[USE]);
    assert!(of("http://mcp.example.com/mcp").contains("https"));
    assert!(of("mcp.example.com/mcp").contains("the public address"));
    assert!(of("https://mcp.example.com/mcp#here").contains("fragment"));
    assert!(of("https://user@mcp.example.com/mcp").contains("user"));
    let nobody = built(ProtectedResource::new(PUBLIC), &[USE]);
    assert!(nobody.contains("authorization server"), "{nobody}");
    let plain = at(PUBLIC).authorization_server("http://login.example.com");
    assert!(built(plain, &[USE]).contains("an authorization server"));
    for scope in ["offline_access", "a b", "a\"", ""] {
        assert!(built(at(PUBLIC), &[scope]).contains("cannot be asked for"));
        let offered = at(PUBLIC).scopes_supported([scope]);
        assert!(built(offered, &[USE]).contains("cannot be asked for"));
    }
    assert!(
        Authorization::builder()
            .build()
            .unwrap_err()
            .to_string()
            .contains("policy")
    );
}
