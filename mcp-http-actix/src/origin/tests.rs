use mcp_core::{Registry, ServerConfig};

use super::{Allowed, InvalidEntry};
use crate::Endpoint;

fn endpoint() -> Endpoint {
    let registry = Registry::builder("test", "1");
    Endpoint::new(registry.build(ServerConfig::default()).unwrap())
}

fn hosts(entries: &[&str]) -> Allowed {
    let named = entries.iter();
    let named = named.fold(endpoint(), |it, entry| it.allow_host(entry).unwrap());
    named.allowed
}

fn origins(entries: &[&str]) -> Allowed {
    let named = endpoint().allow_host("mcp.example.com").unwrap();
    let mut entries = entries.iter();
    let named = entries.try_fold(named, |it, entry| it.allow_origin(entry));
    named.unwrap().allowed
}

fn check_hosts(allowed: &Allowed, served: &[&str], refused: &[&str]) {
    for host in served {
        assert!(allowed.serves_host(host), "{host}");
    }
    for host in refused {
        assert!(!allowed.serves_host(host), "{host}");
    }
}

fn check_origins(allowed: &Allowed, host: &str, served: &[&str], refused: &[&str]) {
    for origin in served {
        assert!(allowed.serves_origin(origin, Some(host)), "{origin}");
    }
    for origin in refused {
        assert!(!allowed.serves_origin(origin, Some(host)), "{origin}");
    }
}

#[test]
fn a09_hosts_are_compared_as_names() {
    check_hosts(
        &hosts(&["mcp.example.com", "other.example:8443"]),
        &[
            "127.0.0.1",
            "127.0.0.1:8000",
            "LOCALHOST:8000",
            "localhost.",
            "[::1]",
            "[::1]:8000",
            "[0:0:0:0:0:0:0:1]:8000",
            "mcp.example.com",
            "mcp.example.com.",
            "MCP.example.com:443",
            "other.example:8443",
        ],
        &[
            "evil.example:8000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "mcp.example.com.evil.example",
            "other.example",
            "other.example:80",
            "",
            ".",
            ":80",
            "[::1",
            "[::1]x",
            "[localhost]",
            "::1",
            "127.1",
            "0x7f.0.0.1",
            "127.0.0.1:x",
            "127.0.0.1:+80",
            "127.0.0.1:",
            "127.0.0.1:99999",
            "mcp.example.com..",
            "mcp.example.com@evil.example",
            "mcp.example.com/evil.example",
            "evil.example,mcp.example.com",
        ],
    );
}

/// Browsers leave out the port of their scheme.
#[test]
fn a_default_port_is_served_where_host_names_none() {
    let allowed = hosts(&["a.example:443", "b.example:80"]);
    let served = ["a.example", "a.example:443", "b.example", "b.example:80"];
    check_hosts(&allowed, &served, &["a.example:80", "b.example:443"]);
}

#[test]
fn a_wildcard_is_exactly_one_label() {
    check_hosts(
        &hosts(&["*.example.com", "*.one.example:8443", "*.localhost"]),
        &[
            "a.example.com",
            "A.EXAMPLE.com.:99",
            "a.one.example:8443",
            "app.localhost:3000",
        ],
        &[
            "example.com",
            ".example.com",
            "a.b.example.com",
            "aexample.com",
            "a.example.com.evil.example",
            "a.one.example",
            "*.example.com",
        ],
    );
    check_origins(
        &origins(&["https://*.example.org", "http://*.example.net:*"]),
        "mcp.example.com",
        &[
            "https://a.example.org",
            "https://A.example.org:443",
            "http://a.example.net",
            "http://a.example.net:81",
        ],
        &[
            "http://a.example.org",
            "https://a.example.org:8443",
            "https://example.org",
            "https://a.b.example.org",
            "https://a.example.org.evil.example",
            "https://a.example.net",
        ],
    );
}

#[test]
fn addresses_are_compared_as_addresses() {
    let allowed = hosts(&["[2001:DB8::7]", "192.0.2.7:81"]);
    check_hosts(
        &allowed,
        &["[2001:db8:0:0::7]:9", "[2001:db8::7]", "192.0.2.7:81"],
        &[
            "[2001:db8::8]",
            "192.0.2.7",
            "192.0.2.7:82",
            "192.0.2.07:81",
        ],
    );
    let allowed = origins(&["http://[2001:db8::7]:3000"]);
    let served = ["http://[2001:DB8:0::7]:3000"];
    let refused = ["http://[2001:db8::7]", "http://2001:db8::7:3000"];
    check_origins(&allowed, "mcp.example.com", &served, &refused);
}

// req: http-origin-validated
#[test]
fn origins_are_exact() {
    check_origins(
        &origins(&["https://app.example.com", "http://plain.example:80/"]),
        "mcp.example.com",
        &[
            "https://app.example.com",
            "https://app.example.com:443",
            "HTTPS://APP.example.com",
            "http://plain.example",
            "https://mcp.example.com",
            "https://mcp.example.com:443",
        ],
        &[
            "http://app.example.com",
            "https://app.example.com:8443",
            "https://plain.example:80",
            "https://mcp.example.com:8443",
            "null",
            "NULL",
            "",
            "*",
            "https://app.example.com.evil.example",
            "https://app.example.com/",
            "https://evil@app.example.com",
            "http://localhost:3000",
            "file://",
            "https://app.example.com, https://evil.example",
        ],
    );
}

#[test]
fn pages_of_other_schemes_are_served_by_name() {
    let allowed = origins(&["chrome-extension://abcdef", "tauri://localhost"]);
    let served = ["chrome-extension://abcdef", "tauri://localhost"];
    let refused = [
        "chrome-extension://abcdeg",
        "tauri://localhost:80",
        "ws://abcdef",
    ];
    check_origins(&allowed, "mcp.example.com", &served, &refused);
    // Nothing but HTTP has pages of this very host, or of this machine.
    let refused = ["tauri://localhost", "ftp://127.0.0.1", "null"];
    check_origins(&endpoint().allowed, "127.0.0.1", &[], &refused);
}

#[test]
fn while_only_loopback_is_served_pages_of_this_machine_are_ours() {
    let local = [
        "http://localhost:6274",
        "http://[::1]:6274",
        "https://127.0.0.2",
    ];
    let foreign = ["http://evil.example", "http://localhost.evil.example"];
    for allowed in [
        endpoint().allowed,
        hosts(&["localhost:3000", "127.0.0.1"]),
        endpoint()
            .public_url("http://localhost:3000/mcp")
            .unwrap()
            .allowed,
    ] {
        check_origins(&allowed, "127.0.0.1:3000", &local, &foreign);
        check_hosts(&allowed, &["localhost:3000"], &["evil.example"]);
    }
    assert!(!endpoint().allowed.names_hosts());
    let public = hosts(&["mcp.example.com"]);
    assert!(public.names_hosts());
    check_origins(&public, "mcp.example.com", &[], &local);
}

#[test]
fn the_public_address_names_host_origin_and_scheme() {
    let public = endpoint().public_url("HTTPS://mcp.example.com/a/mcp?b=c");
    let allowed = public.unwrap().allowed;
    let served = [
        "mcp.example.com",
        "mcp.example.com:443",
        "mcp.example.com:8080",
    ];
    check_hosts(&allowed, &served, &["example.com"]);
    for host in served {
        check_origins(
            &allowed,
            host,
            &["https://mcp.example.com", "https://mcp.example.com:443"],
            &[
                "http://mcp.example.com",
                "http://mcp.example.com:8080",
                "https://mcp.example.com:8080",
                "http://localhost:3000",
            ],
        );
    }
    // Nothing is known of how other hosts are reached.
    let also = ["http://127.0.0.1:3000", "https://127.0.0.1:3000"];
    check_origins(
        &allowed,
        "127.0.0.1:3000",
        &also,
        &["http://127.0.0.1:3001"],
    );
}

#[test]
fn an_entry_that_is_none_is_refused_with_what_is_wrong() {
    let problem = |entry: Result<Endpoint, InvalidEntry>| entry.unwrap_err().to_string();
    for (host, says) in [
        ("", "empty"),
        ("*", "trust_any_host"),
        ("*.com", "top-level"),
        ("*.192.0.2.7", "below an address"),
        ("a.*.example.com", "first label"),
        ("mcp*.example.com", "first label"),
        ("https://mcp.example.com", "public_url"),
        ("mcp.example.com/mcp", "no path"),
        ("mcp.example.com:", "port"),
        ("mcp.example.com:0", "port"),
        ("mcp.example.com:65536", "port"),
        ("mcp.example.com:80:90", "port"),
        (" mcp.example.com", "letters"),
        ("bücher.example", "xn--"),
        ("::1", "brackets"),
        ("[::1", "bracket"),
        ("[::1]80", "after the bracket"),
        ("256.0.0.1", "IPv4"),
    ] {
        let said = problem(endpoint().allow_host(host));
        assert!(said.contains(says), "{said}");
        assert!(said.contains("allow_host") && said.contains(&format!("{host:?}")));
    }
    for (origin, says) in [
        ("*", "trust_any_origin"),
        ("null", "trust_any_origin"),
        ("app.example.com", "scheme"),
        ("://app.example.com", "scheme"),
        ("https://app.example.com/app", "no path"),
        ("https://", "empty"),
        ("https://*", "first label"),
        ("https://me@app.example.com", "no user"),
        ("file:///", "empty"),
    ] {
        let said = problem(endpoint().allow_origin(origin));
        assert!(said.contains(says), "{origin}: {said}");
        assert!(said.contains("allow_origin"));
    }
    for (url, says) in [
        ("mcp.example.com", "scheme"),
        ("ftp://mcp.example.com", "neither"),
        ("https://*.example.com/mcp", "wildcard"),
        ("https:///mcp", "empty"),
    ] {
        let said = problem(endpoint().public_url(url));
        assert!(said.contains(says) && said.contains("public_url"), "{said}");
    }
}
