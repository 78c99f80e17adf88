//! Keys of a file.

use std::{fs, path::PathBuf};

use mcp_auth::KeySource;
use mcp_core::auth::TokenVerifier;
use serde_json::json;

use crate::support::{Time, builder, claims, jwk, jwks, reason, signed};

/// A folder of a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("mcp-auth-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_file_of_keys_is_read_again_when_it_changes() {
    let folder = Folder::new("rotation");
    let path = folder.0.join("jwks.json");
    fs::write(&path, jwks(&[jwk("rsa")])).unwrap();
    let time = Time::new();
    let verifier = builder().clock(time.clock()).keys(KeySource::file(&path));
    let verifier = verifier.build().unwrap();
    let header = |kid: &str| json!({"alg": "RS256", "kid": kid});
    let old = signed("rsa", &header("rsa"), &claims());
    let new = signed("rsa-other", &header("rsa-other"), &claims());
    verifier.verify(&old).await.unwrap();
    assert!(reason(&verifier, &new).await.contains("no key"));
    let two = [jwk("rsa-other"), jwk("ed25519")];
    fs::write(&path, jwks(&two)).unwrap();
    // It is not looked at with every token.
    assert!(reason(&verifier, &new).await.contains("no key"));
    time.pass(1);
    verifier.verify(&new).await.unwrap();
    // The key is gone, and with it what was remembered of its tokens.
    assert!(reason(&verifier, &old).await.contains("no key"));
}

#[tokio::test]
async fn a_file_that_is_gone_or_broken_leaves_the_last_keys() {
    let folder = Folder::new("broken");
    let path = folder.0.join("jwks.json");
    fs::write(&path, jwks(&[jwk("rsa")])).unwrap();
    let time = Time::new();
    let verifier = builder().clock(time.clock()).keys(KeySource::file(&path));
    let verifier = verifier.remember(0).build().unwrap();
    let token = signed("rsa", &json!({"alg": "RS256", "kid": "rsa"}), &claims());
    fs::write(&path, "{\"keys\": [").unwrap();
    time.pass(1);
    verifier.verify(&token).await.unwrap();
    fs::remove_file(&path).unwrap();
    time.pass(1);
    verifier.verify(&token).await.unwrap();
    fs::write(&path, jwks(&[])).unwrap();
    time.pass(1);
    // No keys at all is what somebody may have meant.
    assert!(reason(&verifier, &token).await.contains("no key"));
}

#[test]
fn a_file_that_cannot_be_read_is_said_when_it_is_built() {
    let folder = Folder::new("missing");
    let path = folder.0.join("nowhere.json");
    for (path, word) in [(&path, "nowhere.json"), (&folder.0, "no file")] {
        let error = builder().keys(KeySource::file(path)).build().unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    fs::write(&path, " ".repeat(1024 * 1024 + 1)).unwrap();
    let error = builder().keys(KeySource::file(&path)).build().unwrap_err();
    assert!(error.to_string().contains("1048576 bytes"), "{error}");
}
