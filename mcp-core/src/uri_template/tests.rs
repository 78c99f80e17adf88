//! Tests of the whole module: parsing, matching, refusing, expanding.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;

use super::{RefusalReason, TemplateProblem, UriTemplate, Variables};

#[track_caller]
fn template(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap()
}

/// `expected` is `name=value` for each variable, or `-` for no match, or the refusal's text.
#[track_caller]
fn check(text: &str, uri: &str, expected: &[&str]) {
    let found = match template(text).matches(uri) {
        Ok(None) => vec!["-".to_owned()],
        Ok(Some(variables)) => variables.iter().map(|(n, v)| format!("{n}={v}")).collect(),
        Err(refusal) => vec![refusal.to_string()],
    };
    assert_eq!(found, expected, "{text} against {uri}");
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    assert_eq!(
        UriTemplate::parse(text).unwrap_err().to_string(),
        expected,
        "{text}"
    );
}

#[test]
fn literals_alone() {
    check("mem://a/b", "mem://a/b", &[]);
    check("mem://a/b", "mem://a/b/", &["-"]);
    check("mem://a/b", "mem://a/", &["-"]);
    check("", "", &[]);
    check("", "x", &["-"]);
    check("file:///a.b", "file:///aXb", &["-"]);
}

#[test]
fn simple_variables() {
    check("mem://{id}", "mem://7", &["id=7"]);
    check("mem://{id}", "mem://", &["-"]);
    check("mem://{id}", "mem://a/b", &["-"]);
    check("mem://{id}", "mem://a?b", &["-"]);
    check("mem://{id}", "mem://a#b", &["-"]);
    check("mem://{id}/x", "mem://7/x", &["id=7"]);
    check("mem://{id}/x", "mem://7/y", &["-"]);
    check("mem://{a}/{b}", "mem://1/2", &["a=1", "b=2"]);
    check("mem://{a}/{b}", "mem://1/2/3", &["-"]);
    check("mem://{a}/{b}", "mem:///2", &["-"]);
    check("map:{x,y}", "map:1,2", &["x=1", "y=2"]);
    check("map:{x,y}", "map:1", &["-"]);
    check("{scheme}://x", "HTTP://x", &["scheme=http"]);
    check("db:{table}", "db:a:b@c;d=e", &["table=a:b@c;d=e"]);
    check("x:{_a.b_1}", "x:1", &["_a.b_1=1"]);
}

#[test]
fn variables_are_short_and_ends_are_fixed() {
    check("f:{name}.{ext}", "f:a.tar.gz", &["name=a", "ext=tar.gz"]);
    check("f:{name}.txt", "f:a.txt.txt", &["name=a.txt"]);
    check("f:{a}-{b}-x/{c}", "f:1-2-3-x/4", &["a=1", "b=2-3", "c=4"]);
    check("f:{a}-{b}.c/{d}", "f:p-q.c.c/z", &["a=p", "b=q.c", "d=z"]);
    check("f:{a}-{b}", "f:a/b-c", &["-"]);
    check("f:{a}--{b}", "f:---x", &["a=-", "b=x"]);
    check("f:{name}{.ext}", "f:a.b", &["name=a", "ext=b"]);
}

#[test]
fn reserved_variables_take_the_rest() {
    check("file:///{+path}", "file:///a/b.c", &["path=a/b.c"]);
    check("file:///{+path}", "file:///", &["-"]);
    check("x:{+dir}/{file}", "x:a/b/c", &["dir=a/b", "file=c"]);
    check(
        "x:{+dir}/{file}.{ext}",
        "x:a/b/c.d.e",
        &["dir=a/b", "file=c.d", "ext=e"],
    );
    check("x:{a}-{+b}-{c}", "x:1-2-3-4", &["a=1", "b=2-3", "c=4"]);
    check("x:{+a}/data", "x:p/q/data", &["a=p/q"]);
    check("x:{+a}/data", "x:p/q/dat", &["-"]);
    check("x:{+a}", "x:p?q#r", &["a=p?q#r"]);
    check("x:{+a}{?q}", "x:p/r?q=1", &["a=p/r", "q=1"]);
    check("x:{+a}{#f}", "x:p/r#s/t", &["a=p/r", "f=s/t"]);
}

#[test]
fn fragments_labels_and_segments() {
    check("x:y{#f}", "x:y#a/b", &["f=a/b"]);
    check("x:y{#f}", "x:y", &["-"]);
    check("x:y#top{f}", "x:y#top1", &["f=1"]);
    check("x:y#top", "x:y#top", &[]);
    check("x:y", "x:y#top", &["-"]);
    check("x:a{.b,c}", "x:a.1.2", &["b=1", "c=2"]);
    check("x:a{/b,c}", "x:a/1/2", &["b=1", "c=2"]);
    check("x:a{/b,c}", "x:a/1", &["-"]);
    check("x:a{/b}/z", "x:a/1/z", &["b=1"]);
}

#[test]
fn query_members_in_any_order() {
    let text = "s://find{?q,limit}";
    check(text, "s://find", &[]);
    check(text, "s://find?", &[]);
    check(text, "s://find?q=a", &["q=a"]);
    check(text, "s://find?limit=2&q=a", &["q=a", "limit=2"]);
    check(text, "s://find?other=1&q=a%20b&more", &["q=a b"]);
    check(text, "s://find?q", &["q="]);
    check(text, "s://find?q=a=b", &["q=a=b"]);
    check(text, "s://find?q=a+b", &["q=a+b"]);
    check(text, "s://find?q=a/b", &["q=a/b"]);
    check(text, "s://find?q=1&q=2", &["variable `q` is given twice"]);
    check(text, "s://find?q=a#b", &["-"]);
    check(text, "s://lost?q=1&q=2", &["-"]);
    check(text, "s://find?other=%zz", &[]);
    check(text, "s://find?%71=1", &["q=1"]);
    check("s://find{?q}{&limit}", "s://find?limit=1", &["limit=1"]);
    check("s://find?kind=a{&q}", "s://find?kind=a", &[]);
    check("s://find?kind=a{&q}", "s://find?kind=a&q=1", &["q=1"]);
    check("s://find?kind=a{&q}", "s://find?kind=b&q=1", &["-"]);
    check(
        "s://f?a={a}&b={b}{&c}",
        "s://f?a=1&b=2&c=3",
        &["a=1", "b=2", "c=3"],
    );
    check("s://f?a={a}&b={b}", "s://f?a=1&b=2&c=3", &["-"]);
    check("s://f{?q}{#h}", "s://f?q=1#2", &["q=1", "h=2"]);
}

#[test]
fn path_parameters_in_any_order() {
    check("x:a{;p,q}", "x:a;q=1;p=2", &["p=2", "q=1"]);
    check("x:a{;p,q}", "x:a", &[]);
    check("x:a{;p}", "x:a;p", &["p="]);
    check("x:a{;p}", "x:a;z=1", &[]);
    check("x:a{;p}", "x:ab", &["-"]);
    check("x:{a}{;p}/b", "x:1;p=2/b", &["a=1", "p=2"]);
    check("x:{a}{;p}/b", "x:1/b", &["a=1"]);
}

#[test]
fn literals_are_compared_normalized() {
    for text in [
        "mem://café/{id}",
        "mem://caf%C3%A9/{id}",
        "MEM://caf%c3%a9/{id}",
    ] {
        for uri in [
            "mem://café/1",
            "mem://caf%C3%A9/1",
            "mem://caf%c3%a9/1",
            "Mem://caf%C3%A9/1",
        ] {
            check(text, uri, &["id=1"]);
        }
        check(text, "mem://cafe/1", &["-"]);
    }
    check("x:~a/{b}", "x:%7Ea/1", &["b=1"]);
    check("x:%7ea/{b}", "x:~a/1", &["b=1"]);
    // An escaped delimiter is no delimiter (RFC 3986 section 2.2).
    check("x:a/{b}", "x:a%2F1", &["-"]);
    check("x:a%2F{b}", "x:a/1", &["-"]);
    check("x:a%2f{b}", "x:a%2F1", &["b=1"]);
    // A literal is not found inside an escape.
    check("x:{a}2{b}", "x:%2Fy2z", &["variable `a` contains a slash"]);
    check("x:{a}41{b}", "x:p%2541q", &["a=p%", "b=q"]);
    check("x:{a}5{b}", "x:p%25q", &["-"]);
    // Only the scheme is case-insensitive.
    check("mem://A/{b}", "mem://a/1", &["-"]);
}

/// A29, `file:///docs/{name}`.
#[test]
fn percent_encoded_names_reach_the_handler_decoded_once() {
    let text = "file:///docs/{name}";
    check(
        text,
        "file:///docs/caf%C3%A9%20menu.txt",
        &["name=café menu.txt"],
    );
    check(text, "file:///docs/café menu.txt", &["name=café menu.txt"]);
    check(text, "file:///docs/100%25.txt", &["name=100%.txt"]);
    check(
        text,
        "file:///docs/%252e%252e%252fsecret",
        &["name=%2e%2e%2fsecret"],
    );
    check(text, "file:///docs/%25%32%65", &["name=%2e"]);
    check(text, "file:///docs/../secret", &["-"]);
}

#[test]
fn values_that_leave_their_place_are_refused() {
    let dots = "variable `name` contains a dot segment";
    for (name, expected) in [
        ("..%2F..%2Fsrv%2Fkey.pem", dots),
        ("%2e%2e%2fsecret", dots),
        ("..", dots),
        (".", dots),
        ("%2E%2e", dots),
        ("a%2Fb", "variable `name` contains a slash"),
        ("..%5C..%5Csecret", "variable `name` contains a backslash"),
        ("a%00b", "variable `name` contains a NUL"),
        ("%zz", "variable `name` has a malformed percent-escape"),
        ("a%", "variable `name` has a malformed percent-escape"),
        ("%%34%31", "variable `name` has a malformed percent-escape"),
        ("%ff", "variable `name` is not valid UTF-8"),
        ("%c0%af", "variable `name` is not valid UTF-8"),
        ("a..b", "name=a..b"),
        ("...", "name=..."),
    ] {
        check(
            "file:///docs/{name}",
            &format!("file:///docs/{name}"),
            &[expected],
        );
    }
    let absolute = "variable `path` is an absolute path";
    for (path, expected) in [
        ("a/b", "path=a/b"),
        ("a%2Fb", "path=a/b"),
        ("a/../b", "variable `path` contains a dot segment"),
        ("./a", "variable `path` contains a dot segment"),
        ("a/%2e%2e", "variable `path` contains a dot segment"),
        ("/etc/passwd", absolute),
        ("%2Fetc%2Fpasswd", absolute),
        ("a%5Cb", "variable `path` contains a backslash"),
    ] {
        check(
            "file:///docs/{+path}",
            &format!("file:///docs/{path}"),
            &[expected],
        );
    }
    check(
        "x:y{?f}",
        "x:y?f=..%2Fz",
        &["variable `f` contains a dot segment"],
    );
}

#[test]
fn checks_can_be_given_up() {
    let unsafe_template = template("file:///docs/{name}").allow_unsafe_paths();
    let name = |uri| {
        unsafe_template
            .matches(uri)
            .unwrap()
            .unwrap()
            .get("name")
            .unwrap()
            .to_owned()
    };
    assert_eq!(name("file:///docs/..%2F..%2Fkey.pem"), "../../key.pem");
    assert_eq!(name("file:///docs/a%00b"), "a\0b");
    let reason = |uri| unsafe_template.matches(uri).unwrap_err().reason;
    assert_eq!(reason("file:///docs/%zz"), RefusalReason::MalformedEscape);
    assert_eq!(reason("file:///docs/%ff"), RefusalReason::InvalidUtf8);
}

#[test]
fn errors_say_what_and_where() {
    let adjacent = "two variables with no literal between them cannot be told apart";
    check_error(
        "x:{a}{b}",
        &format!("invalid URI template: {adjacent}, at byte 5"),
    );
    check_error(
        "x:{+a}{b}",
        &format!("invalid URI template: {adjacent}, at byte 6"),
    );
    check_error(
        "x:{a",
        "invalid URI template: `{` is never closed, at byte 2",
    );
    check_error("x:a}", "invalid URI template: `}` without `{`, at byte 3");
    check_error(
        "x:{}",
        "invalid URI template: \"\" is not a variable name (letters, digits, `_` and inner dots), at byte 3",
    );
    check_error(
        "x:{a,b c}",
        "invalid URI template: \"b c\" is not a variable name (letters, digits, `_` and inner dots), at byte 5",
    );
    check_error(
        "x:{a*}",
        "invalid URI template: the modifiers `*` and `:n` of level 4 are not supported, use `{+a}` for a path, at byte 3",
    );
    check_error(
        "x:{a}/{a}",
        "invalid URI template: variable `a` appears twice, at byte 7",
    );
    check_error(
        "x:{=a}",
        "invalid URI template: operator `=` is reserved by RFC 6570, at byte 2",
    );
    check_error(
        "x:%2",
        "invalid URI template: `%` is not followed by two hexadecimal digits, at byte 2",
    );
    check_error(
        "x:a b",
        "invalid URI template: ' ' is not allowed in a literal, at byte 3",
    );
    check_error(
        "x:{+a}/{+b}",
        "invalid URI template: only one `{+…}` variable can be matched in a template, at byte 7",
    );
}

#[test]
fn expressions_out_of_place_are_errors() {
    for text in [
        "x:{?q}/a",
        "x:{?q}{a}",
        "x:{?q}{?r}",
        "x:?a=1{?q}",
        "x:{&q}",
        "x:{#f}{?q}",
        "x:{#f}{#g}",
        "x:{+a}{;p}",
        "x:a{;p}b",
        "x:a{;p}{b}",
        "x:a{;p}{;q}",
    ] {
        let error = UriTemplate::parse(text).unwrap_err();
        assert!(
            matches!(error.problem, TemplateProblem::Misplaced(_)),
            "{text}: {error}"
        );
    }
}

/// RFC 6570 sections 1.2 and 3.2, what of it is level 3 without modifiers.
#[test]
fn expansions_of_the_rfc() {
    let values: Variables = [
        ("var", "value"),
        ("hello", "Hello World!"),
        ("path", "/foo/bar"),
        ("empty", ""),
        ("x", "1024"),
        ("y", "768"),
        ("half", "50%"),
        ("base", "http://example.com/home/"),
        ("who", "fred"),
        ("v", "6"),
    ]
    .into_iter()
    .collect();
    for (text, expected) in [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("map?{x,y}", "map?1024,768"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{+base}index", "http://example.com/home/index"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("X{#hello}", "X#Hello%20World!"),
        ("X{.x,y}", "X.1024.768"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"),
        ("{;x,empty}", ";x=1024;empty"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,empty}", "?x=1024&empty="),
        ("{?x,undef}", "?x=1024"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("find{?undef}", "find"),
    ] {
        assert_eq!(template(text).expand(&values), expected, "{text}");
    }
}

#[test]
fn variables_become_json_of_the_schema() {
    let schema = json!({"properties": {
        "id": {"type": "integer"}, "name": {"type": "string"}, "all": {"type": ["boolean", "null"]},
    }});
    let found = template("x:{id}/{name}{?all,other}")
        .matches("x:07/7?all=true")
        .unwrap()
        .unwrap();
    assert_eq!(
        found.to_json(&schema),
        r#"{"all":true,"id":"07","name":"7"}"#
    );
    assert_eq!(
        format!("{found:?}"),
        r#"{"id": "2 bytes", "name": "1 bytes", "all": "4 bytes"}"#
    );
}

#[test]
fn matching_is_linear() {
    let long = "a".repeat(100_000);
    let escapes = "%61".repeat(33_000);
    let dashes = "a-".repeat(50_000);
    for text in [
        "{x}",
        "{+x}",
        "{x}-{y}-{z}",
        "{+x}-{y}-{z}",
        "{x}aaaaaaaaab",
        "{x}a{y}a{z}b",
        "q{?x}",
        "{x}{;p}",
        "{a}b{+x}b{c}",
        "{+x}aaaaaaaab{y}",
    ] {
        let template = template(text);
        for uri in [
            &long,
            &escapes,
            &dashes,
            &format!("q?{}", "&".repeat(100_000)),
        ] {
            // The best of three: other tests run at the same time.
            let best = (0..3).map(|_| {
                let start = started();
                let _ = template.matches(uri);
                start.elapsed().as_millis()
            });
            let best = best.min().unwrap();
            assert!(best < 500, "{text}: {best} ms");
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "measures how long matching takes"
)]
fn started() -> Instant {
    Instant::now()
}

/// Templates that leave no choice for values without their own delimiters.
const CLEAR: &[&str] = &[
    "x:{a}",
    "x:{a}/{b}",
    "x:{a}.{b}/c",
    "x:{a,b}",
    "x:{+a}/z",
    "x:y{#a}",
    "x:y{.a,b}",
    "x:y{/a,b}",
    "x:y{;a,b}",
    "x:y{?a,b}",
    "x:y?f=1{&a,b}",
    "x:{a}/y{?b}",
    "x:{a}{?b}#c",
    "é:ü/{a}/ß/{b}",
];

proptest! {
    #[test]
    fn never_panics(text in "\\PC{0,40}", uri in "\\PC{0,60}") {
        if let Ok(template) = UriTemplate::parse(&text) {
            let _ = template.matches(&uri);
            let _ = template.matches(&text);
        }
    }

    #[test]
    fn never_panics_on_things_like_templates(
        text in "[a:/?#%2&=;.{}+,é]{0,30}",
        uri in "[a:/?#%2&=;.{}+,é]{0,30}",
    ) {
        if let Ok(template) = UriTemplate::parse(&text) {
            let _ = template.matches(&uri);
            let values: Variables = template.variables().map(|it| (it, uri.clone())).collect();
            let _ = template.allow_unsafe_paths().matches(&text);
            let _ = values;
        }
    }

    #[test]
    fn what_is_expanded_matches(
        at in 0..CLEAR.len(),
        a in "[^./\\\\\\x00]{1,12}",
        b in "[^./\\\\\\x00]{1,12}",
    ) {
        let template = template(CLEAR[at]);
        let pairs = [("a", a), ("b", b)];
        let values: Variables = pairs.into_iter().filter(|(n, _)| template.variables().any(|it| it == *n)).collect();
        let uri = template.expand(&values);
        prop_assert_eq!(template.matches(&uri).unwrap(), Some(values), "{}", uri);
    }

    #[test]
    fn any_value_matches_its_own_expansion(a in "\\PC{1,20}", b in "\\PC{1,20}") {
        for text in ["x:{a}/{b}", "x:y{?a,b}", "x:y{;a,b}", "x:{a,b}"] {
            let template = template(text).allow_unsafe_paths();
            let values: Variables = [("a", a.clone()), ("b", b.clone())].into_iter().collect();
            let uri = template.expand(&values);
            prop_assert_eq!(template.matches(&uri).unwrap(), Some(values), "{}", uri);
        }
    }

    /// No value reaches a handler with which `Path::join` leaves a directory.
    #[test]
    fn nothing_escapes(tail in "(\\.|/|%2e|%2F|%5c|\\\\|a|%00|%25){0,12}") {
        for text in ["file:///d/{p}", "file:///d/{+p}", "file:///d{/p}"] {
            if let Ok(Some(found)) = template(text).matches(&format!("file:///d/{tail}")) {
                let value = found.get("p").unwrap();
                let joined = std::path::Path::new("/d").join(value);
                let safe = joined.components().all(|it| !matches!(it, std::path::Component::ParentDir));
                prop_assert!(safe && joined.starts_with("/d"), "{}", value);
                prop_assert!(!value.contains(['\\', '\0']));
            }
        }
    }
}
