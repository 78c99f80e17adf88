//! Who may use whom: the table of the design against `cargo metadata`.

use anyhow::{Result, bail};

use crate::json::Json;

/// What one crate of ours may depend on; dev-dependencies are its own affair.
#[derive(Debug)]
struct Rule {
    name: &'static str,
    ours: &'static [&'static str],
    others: &'static [&'static str],
}

impl Rule {
    /// The core waits and counts time; only the leaves have a runtime and sockets.
    fn may_switch_on(&self, used: &str, feature: &str) -> bool {
        let careful = self.name == "mcp-core" && used == "tokio";
        !careful || ["macros", "rt", "sync", "time"].contains(&feature)
    }
}

/// Every breach of the table, as a sentence.
pub(crate) fn check(metadata: &Json) -> Result<Vec<String>> {
    let packages = metadata.get("packages").list();
    if packages.is_empty() {
        bail!("cargo metadata lists no packages");
    }
    let ours: Vec<&str> = packages.iter().filter_map(name).collect();
    let mut errors = Vec::new();
    for package in packages {
        let package_name = name(package).unwrap_or_default();
        let dependencies = package.get("dependencies").list();
        let Some(rule) = RULES.iter().find(|rule| rule.name == package_name) else {
            if !FREE.contains(&package_name) {
                errors.push(format!(
                    "{package_name}: a crate that the table in xtask/src/tidy/dependencies.rs lacks"
                ));
            }
            continue;
        };
        for dependency in dependencies.iter().filter(|it| is_shipped(it)) {
            errors.extend(breach(rule, dependency, &ours));
        }
    }
    Ok(errors)
}

fn breach(rule: &Rule, dependency: &Json, ours: &[&str]) -> Option<String> {
    let used = name(dependency)?;
    let allowed = if ours.contains(&used) {
        rule.ours
    } else {
        rule.others
    };
    if !allowed.contains(&used) {
        let why = NEVER
            .iter()
            .find(|(never, _)| *never == used)
            .map_or("not in its row of the table", |(_, why)| why);
        return Some(format!("{} must not depend on {used}: {why}", rule.name));
    }
    let features = dependency.get("features").list();
    let extra = features
        .iter()
        .filter_map(Json::text)
        .find(|feature| !rule.may_switch_on(used, feature))?;
    Some(format!("{} must not use {used}'s `{extra}`", rule.name))
}

fn name(of: &Json) -> Option<&str> {
    of.get("name").text()
}

fn is_shipped(dependency: &Json) -> bool {
    dependency.get("kind").text() != Some("dev")
}

/// Crates that may use every other: they are the ends, or prove the rest.
const FREE: &[&str] = &["mcp-examples", "mcp-tests"];

const RULES: &[Rule] = &[
    Rule {
        name: "mcp-types",
        ours: &[],
        others: &["serde", "serde_json"],
    },
    Rule {
        name: "mcp-codec",
        ours: &["mcp-types"],
        others: &[
            "base64",
            "bytes",
            "itoa",
            "serde",
            "serde_json",
            "thiserror",
        ],
    },
    Rule {
        name: "mcp-state",
        ours: &[],
        others: &[
            "aes-gcm",
            "base64",
            "hkdf",
            "hmac",
            "rand",
            "serde",
            "serde_json",
            "sha2",
            "subtle",
            "thiserror",
            "zeroize",
        ],
    },
    Rule {
        name: "mcp-core",
        ours: &["mcp-types", "mcp-codec", "mcp-state"],
        others: &[
            "arc-swap",
            "async-trait",
            "base64",
            "bytes",
            "futures-util",
            "hmac",
            "jsonschema",
            "rand",
            "schemars",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "sha2",
            "thiserror",
            "tokio",
            "tracing",
        ],
    },
    Rule {
        name: "mcp-auth",
        ours: &["mcp-core"],
        others: &[
            "async-trait",
            "base64",
            "bytes",
            "http-body-util",
            "hyper",
            "hyper-rustls",
            "hyper-util",
            "jsonwebtoken",
            "rustls",
            "serde",
            "serde_json",
            "sha2",
            "thiserror",
            "tokio",
            "tracing",
            "zeroize",
        ],
    },
    Rule {
        name: "mcp-http-actix",
        ours: &["mcp-core"],
        others: &[
            "actix-cors",
            "actix-http",
            "actix-server",
            "actix-service",
            "actix-web",
            "bytes",
            "flate2",
            "futures-util",
            "mime",
            "socket2",
            "thiserror",
            "tokio",
            "tracing",
        ],
    },
    Rule {
        name: "mcp-stdio",
        ours: &["mcp-core"],
        others: &[
            "bytes",
            "futures-util",
            "memchr",
            "rustix",
            "tokio",
            "tracing",
        ],
    },
    Rule {
        name: "xtask",
        ours: &["mcp-codec"],
        others: &["anyhow", "xflags", "xshell"],
    },
];

/// Why a dependency is wrong, where the answer is more than a missing row.
const NEVER: &[(&str, &str)] = &[
    ("serde_json", "a transport neither reads nor writes JSON"),
    ("serde", "a transport neither reads nor writes JSON"),
    ("anyhow", "errors of a library are typed; anyhow is xtask's"),
    ("http", "the codec and core know no HTTP crate"),
    (
        "actix-web",
        "sockets and web frameworks belong to the leaves",
    ),
    ("tokio", "it never awaits; time is an argument"),
    ("futures-util", "it never awaits"),
    ("async-trait", "it never awaits"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::check;
    use crate::json::Json;

    /// A workspace of the crates above, one of which uses one thing more.
    fn errors(user: &str, used: &str, more: &str) -> Vec<String> {
        let dependency = format!(r#"{{"name":"{used}","kind":null,"features":[]{more}}}"#);
        let dependency = dependency.replace(r#""kind":null,"features":[],"#, "");
        let names = ["mcp-types", "mcp-codec", "mcp-core", "mcp-stdio", user];
        let packages: Vec<String> = BTreeSet::from(names)
            .iter()
            .map(|name| {
                let used = if *name == user {
                    dependency.as_str()
                } else {
                    ""
                };
                format!(r#"{{"name":"{name}","dependencies":[{used}]}}"#)
            })
            .collect();
        let metadata = format!(r#"{{"packages":[{}]}}"#, packages.join(","));
        check(&Json::parse(&metadata).unwrap()).unwrap()
    }

    #[test]
    fn accepts_the_directions_of_the_table() {
        for (user, used) in [
            ("mcp-core", "mcp-codec"),
            ("mcp-stdio", "mcp-core"),
            ("mcp-tests", "mcp-stdio"),
            ("mcp-tests", "anything"),
            ("mcp-types", "serde"),
        ] {
            assert!(errors(user, used, "").is_empty(), "{user} -> {used}");
        }
    }

    #[test]
    fn refuses_every_other_direction() {
        for (user, used) in [
            ("mcp-types", "mcp-codec"),
            ("mcp-codec", "mcp-core"),
            ("mcp-core", "mcp-stdio"),
            ("mcp-stdio", "mcp-codec"),
            ("mcp-types", "tokio"),
            ("mcp-codec", "http"),
            ("mcp-state", "mcp-types"),
            ("mcp-core", "anyhow"),
            ("mcp-http-actix", "serde_json"),
            ("xtask", "serde"),
            ("newcomer", "serde"),
        ] {
            assert!(!errors(user, used, "").is_empty(), "{user} -> {used}");
        }
    }

    #[test]
    fn looks_at_kinds_and_features() {
        assert!(errors("mcp-types", "tokio", r#","kind":"dev""#).is_empty());
        assert!(errors("mcp-core", "tokio", r#","features":["time"]"#).is_empty());
        let errors = errors("mcp-core", "tokio", r#","features":["net"]"#);
        assert_eq!(errors, ["mcp-core must not use tokio's `net`"]);
    }
}
