//! Listing and reading resources.

use serde_json::{Value, json};

use crate::support::matrix::{Need, each};

// req: resources-list-result, resources-fields, resources-read-result
// req: resources-text-only-for-text, resources-binary-base64
#[tokio::test]
async fn resources_are_listed_and_read() {
    each(&[], async |peer| {
        let listed = peer.call("resources/list", json!({})).await;
        let resources = listed.result()["resources"].as_array().unwrap();
        let motd = &resources[0];
        assert_eq!(
            (&motd["uri"], &motd["name"]),
            (&json!("test://motd"), &json!("motd"))
        );
        assert_eq!(motd["mimeType"], "text/markdown");
        assert_eq!(motd.get("title").is_some(), peer.has(Need::Titles));

        let read = peer
            .call("resources/read", json!({"uri": "test://motd"}))
            .await;
        let expected = json!([
            {"uri": "test://motd", "mimeType": "text/markdown", "text": "Be kind."},
        ]);
        assert_eq!(read.result()["contents"], expected);
        let read = peer
            .call("resources/read", json!({"uri": "test://bytes"}))
            .await;
        let contents = &read.result()["contents"][0];
        assert_eq!(contents["blob"], "+//+");
        assert_eq!(contents.get("text"), None);
    })
    .await;
}

// req: caching-hints-present, caching-ttl-non-negative-integer, caching-scope-values
#[tokio::test]
async fn what_may_be_kept_says_for_how_long() {
    each(&[Need::CacheHints], async |peer| {
        for (method, params) in [
            ("server/discover", json!({})),
            ("tools/list", json!({})),
            ("prompts/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": "test://bytes"})),
        ] {
            let answer = peer.call(method, params).await;
            let result = answer.result();
            assert!(result["ttlMs"].is_u64(), "{method}: {result}");
            let scope = result["cacheScope"].as_str().unwrap();
            assert!(["public", "private"].contains(&scope), "{method}: {result}");
        }
        let read = peer
            .call("resources/read", json!({"uri": "test://motd"}))
            .await;
        assert_eq!(read.result()["ttlMs"], 60_000);
        assert_eq!(read.result()["cacheScope"], "public");
    })
    .await;
}

// req: resources-templates-list-result
#[tokio::test]
async fn templates_are_listed_and_read_with_typed_variables() {
    each(&[], async |peer| {
        let listed = peer.call("resources/templates/list", json!({})).await;
        let templates = listed.result()["resourceTemplates"].as_array().unwrap();
        let uris: Vec<&Value> = templates.iter().map(|it| &it["uriTemplate"]).collect();
        assert_eq!(uris, ["file:///docs/{name}", "search://items{?q,limit}"]);
        for (uri, expected) in [
            ("search://items?q=a%20b&limit=5", r#"{"q":"a b","limit":5}"#),
            ("search://items", r#"{"q":null,"limit":null}"#),
            ("search://items?q=5", r#"{"q":"5","limit":null}"#),
        ] {
            let read = peer.call("resources/read", json!({"uri": uri})).await;
            let contents = &read.result()["contents"][0];
            assert_eq!(contents["text"], expected, "{uri}");
            assert_eq!(contents["uri"], uri);
        }
    })
    .await;
}

// req: resources-not-found-32002, resources-2026-not-found-32602, resources-validate-uris
// req: resources-2026-no-empty-for-missing, resources-internal-error
#[tokio::test]
async fn what_is_not_there_is_an_error() {
    each(&[], async |peer| {
        let code = if peer.has(Need::ResourceNotFoundCode) {
            -32002
        } else {
            -32602
        };
        for uri in [
            "test://nothing",
            "file:///docs/",
            "search://items?limit=many",
        ] {
            let read = peer.call("resources/read", json!({"uri": uri})).await;
            assert_eq!(read.code(), code, "{uri}");
            assert_eq!(read.error()["data"], json!({"uri": uri}));
        }
        for params in [json!({}), json!({"uri": 5})] {
            let read = peer.call("resources/read", params).await;
            assert_eq!(read.code(), -32602);
        }
        for uri in ["nonsense", "", "1x:y", "/etc/passwd"] {
            let read = peer.call("resources/read", json!({"uri": uri})).await;
            assert_eq!(read.code(), -32602, "{read:?}");
        }
        let read = peer
            .call("resources/read", json!({"uri": "test://internal"}))
            .await;
        assert_eq!(read.code(), -32603);
        assert!(!read.error().to_string().contains("ledger"));
    })
    .await;
}
