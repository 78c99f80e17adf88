//! Properties over generated payloads, tokens, requests and JSON texts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[path = "support/tree.rs"]
mod tree;

use std::collections::BTreeMap;

use mcp_state::{
    AesGcmCodec, Boundary, Caller, HmacCodec, KeyRing, PrincipalBinding, Purpose, Reason, Request,
    RequestStateSecurity, Sealer, canonical_json,
};
use proptest::{collection::vec, prelude::*};
use serde_json::value::RawValue;

use crate::tree::{Tree, trees};

const SECRET: [u8; 32] = [7; 32];

fn ring() -> KeyRing {
    KeyRing::new([SECRET]).unwrap()
}

/// The three ways to seal bytes, as pairs of functions.
fn round_trip(payload: &[u8]) -> [(String, Unseal); 3] {
    let (ring, long) = (ring(), 1 << 20);
    let sealed = AesGcmCodec::new(&ring).with_max_token_len(long);
    let signed = HmacCodec::new(&ring).with_max_token_len(long);
    let cursor = Sealer::new(&ring, Purpose::Cursor).with_max_token_len(long);
    [
        (
            sealed.seal(payload).unwrap(),
            Box::new(move |token| sealed.unseal(token).ok()),
        ),
        (
            signed.seal(payload).unwrap(),
            Box::new(move |token| signed.unseal(token).ok()),
        ),
        (
            cursor.seal(payload, b"list").unwrap(),
            Box::new(move |it| cursor.open(it, b"list").ok()),
        ),
    ]
}

type Unseal = Box<dyn Fn(&str) -> Option<Vec<u8>>>;

proptest! {
    #[test]
    fn every_payload_comes_back(payload in vec(any::<u8>(), 0..5000)) {
        for (token, unseal) in round_trip(&payload) {
            prop_assert_eq!(unseal(&token), Some(payload.clone()));
        }
    }

    #[test]
    fn a_changed_token_is_refused(
        payload in vec(any::<u8>(), 0..100),
        at in any::<prop::sample::Index>(),
        with in "[A-Za-z0-9_=+/ .é-]",
    ) {
        for (token, unseal) in round_trip(&payload) {
            let at = at.index(token.len());
            let changed = format!("{}{with}{}", &token[..at], &token[at + 1..]);
            prop_assume!(changed != token);
            prop_assert_eq!(unseal(&changed), None, "changed at {}", at);
            prop_assert_eq!(unseal(&token[..at]), None, "cut at {}", at);
            let longer = format!("{}{with}{}", &token[..at], &token[at..]);
            prop_assert_eq!(unseal(&longer), None, "longer at {}", at);
            prop_assert_eq!(unseal(&format!("{token}{with}")), None, "extended");
        }
    }

    #[test]
    fn a_token_has_one_spelling(payload in vec(any::<u8>(), 0..100)) {
        use base64::{Engine, engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE}};
        const ALPHABET: &[u8] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        for (token, unseal) in round_trip(&payload) {
            let (prefix, text) = token.split_at(3);
            let raw = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).unwrap();
            for other in [URL_SAFE.encode(&raw), STANDARD.encode(&raw), STANDARD_NO_PAD.encode(&raw)]
            {
                if other != text {
                    prop_assert_eq!(unseal(&format!("{prefix}{other}")), None);
                }
            }
            // The last character has unused bits, unless three bytes fill it.
            for last in ALPHABET {
                let other = format!("{}{}", &token[..token.len() - 1], char::from(*last));
                prop_assert_eq!(unseal(&other).is_some(), other == token);
            }
        }
    }

    #[test]
    fn any_text_is_refused_without_a_panic(text in any::<String>(), payload in vec(any::<u8>(), 0..9)) {
        for (token, unseal) in round_trip(&payload) {
            prop_assert_eq!(unseal(&text), None);
            prop_assert_eq!(unseal(&format!("{}{text}", &token[..3])), None);
        }
    }

    #[test]
    fn associated_data_is_told_apart(one in vec(any::<u8>(), 0..9), other in vec(any::<u8>(), 0..9)) {
        let sealer = Sealer::new(&ring(), Purpose::Application("test"));
        let token = sealer.seal(b"payload", &one).unwrap();
        prop_assert_eq!(sealer.open(&token, &other).is_ok(), one == other);
    }
}

/// Everything that a state is bound to.
#[derive(Clone, Debug, PartialEq)]
struct World {
    secret: u8,
    method: &'static str,
    target: String,
    arguments: Tree,
    audience: Option<String>,
    subject: Option<String>,
}

impl World {
    fn boundary(&self) -> Boundary {
        let ring = KeyRing::new([[self.secret; 32]]).unwrap();
        let security = RequestStateSecurity::with_keys(&ring);
        Boundary::new(
            security.principal(PrincipalBinding::authenticated()),
            self.audience.as_deref(),
        )
    }

    fn params(&self, spelling: u64) -> String {
        let name = if self.method == "resources/read" {
            "uri"
        } else {
            "name"
        };
        let members = BTreeMap::from([
            (name.to_owned(), Tree::Text(self.target.clone())),
            ("arguments".to_owned(), self.arguments.clone()),
        ]);
        Tree::Object(members).spell(spelling)
    }

    fn request<'a>(&'a self, params: &'a str) -> Request<'a> {
        let request = Request::new(self.method, Some(params));
        match &self.subject {
            Some(subject) => request.with_caller(Caller::new("client").with_subject(subject)),
            None => request,
        }
    }

    /// What is compared of the arguments.
    fn digested(&self) -> Option<&Tree> {
        let falsy = [
            Tree::Null,
            Tree::Bool(false),
            Tree::Integer(0),
            Tree::Text(String::new()),
        ];
        let empty = match &self.arguments {
            Tree::Array(items) => items.is_empty(),
            Tree::Object(members) => members.is_empty(),
            other => falsy.contains(other),
        };
        (self.method != "resources/read" && !empty).then_some(&self.arguments)
    }
}

fn worlds() -> impl Strategy<Value = World> {
    let text = || prop::option::of(prop_oneof![Just("demo".to_owned()), any::<String>()]);
    let method = prop::sample::select(vec!["tools/call", "prompts/get", "resources/read"]);
    (
        any::<u8>(),
        method,
        any::<String>(),
        trees(),
        text(),
        text(),
    )
        .prop_map(
            |(secret, method, target, arguments, audience, subject)| World {
                secret,
                method,
                target,
                arguments,
                audience,
                subject,
            },
        )
}

proptest! {
    #[test]
    fn a_state_opens_in_its_own_world_alone(
        home in worlds(),
        other in worlds(),
        swap in 0..6,
        state in any::<String>(),
        spellings in any::<(u64, u64)>(),
    ) {
        let params = home.params(spellings.0);
        let boundary = home.boundary();
        let binding = boundary.bind(&home.request(&params)).unwrap();
        let token = boundary.seal_at(&binding, &state, 1e9, [1; 8]).unwrap();

        // The same request in another spelling.
        let params = home.params(spellings.1);
        let opened = boundary.open_at(&home.request(&params), &token, 1e9 + 599.0).unwrap();
        prop_assert_eq!((opened.state(), opened.binding()), (&state[..], &binding));

        let mut world = home.clone();
        let reason = match swap {
            0 => { world.secret = other.secret; Reason::UnknownKey }
            1 => { world.method = other.method; Reason::RequestBinding }
            2 => { world.target = other.target; Reason::RequestBinding }
            3 => { world.arguments = other.arguments; Reason::RequestBinding }
            4 => { world.audience = other.audience; Reason::Audience }
            _ => { world.subject = other.subject; Reason::Principal }
        };
        let reason = match (&home.subject, &world.subject) {
            (Some(_), None) | (None, Some(_)) => Reason::PrincipalDrift,
            _ => reason,
        };
        let same = world == home
            || (swap == 3 && world.digested() == home.digested());
        let params = world.params(spellings.1);
        let opened = world.boundary().open_at(&world.request(&params), &token, 1e9);
        match opened {
            Ok(_) => prop_assert!(same),
            Err(refused) => {
                prop_assert!(!same);
                prop_assert_eq!(refused.reason(), &reason);
            }
        }
    }
}

proptest! {
    #[test]
    fn the_canonical_form_does_not_depend_on_the_spelling(tree in trees(), seeds in any::<[u64; 3]>()) {
        let canonical = tree.canonical();
        for seed in seeds {
            prop_assert_eq!(&canonical_json(&tree.spell(seed)).unwrap(), &canonical);
        }
        prop_assert_eq!(canonical_json(&canonical).unwrap(), canonical, "it is its own");
    }

    #[test]
    fn the_canonical_form_does_not_depend_on_features_of_serde_json(tree in trees()) {
        // Through a tree of serde_json's, which orders members one way or the other. Numbers that
        // it changes without arbitrary_precision are left out.
        let text = tree.spell(0);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let is_long = text.split(|it: char| !it.is_ascii_digit()).any(|digits| digits.len() > 18);
        if !is_long && !text.contains("-0") {
            prop_assert_eq!(canonical_json(&value.to_string()).unwrap(), tree.canonical());
        }
        // Through raw text, which is what a server has: always.
        let raw: Box<RawValue> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical_json(raw.get()).unwrap(), tree.canonical());
    }

    #[test]
    fn a_double_is_written_in_one_way_that_reads_back(bits in any::<u64>(), wide in any::<bool>()) {
        // Half of them with few bits, where shortest decimals may be equally close.
        let mantissa = if wide { bits } else { bits & !0x3_ffff };
        let double = f64::from_bits(mantissa);
        prop_assume!(double.is_finite());
        let canonical = canonical_json(&format!("{double:?}")).unwrap();
        prop_assert_eq!(canonical.parse::<f64>().unwrap().to_bits(), double.to_bits());
        for spelling in [format!("{double:?}"), format!("{double:.17e}"), format!("{double:.40E}")] {
            prop_assert_eq!(&canonical_json(&spelling).unwrap(), &canonical, "{}", spelling);
        }
        let digits = canonical.split('e').next().unwrap().bytes().filter(u8::is_ascii_digit).count();
        prop_assert!(digits <= 24, "{}", canonical);
    }

    #[test]
    fn an_integer_of_any_length_keeps_its_digits(digits in "-?[1-9][0-9]{0,600}") {
        prop_assert_eq!(canonical_json(&digits).unwrap(), digits);
    }

    #[test]
    fn what_is_accepted_is_json(text in "[\\[\\]{}\",:0-9eE+. \\\\/utrfalsn\u{1}é-]{0,24}") {
        let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
        prop_assert_eq!(canonical_json(&text).is_ok(), is_json, "{}", text);
    }

    #[test]
    fn any_text_is_scanned_without_a_panic(text in any::<String>(), method in 0..3_usize) {
        let method = ["tools/call", "prompts/get", "resources/read"][method];
        let boundary = Boundary::new(RequestStateSecurity::with_keys(&ring()), None);
        let arguments = format!(r#"{{"name":"x","arguments":{text},"requestState":{text}}}"#);
        for params in [&text, &arguments] {
            let _ = canonical_json(params);
            let request = Request::new(method, Some(params));
            let _ = boundary.verify_at(&request, 0.0);
            let _ = boundary.bind(&request);
        }
    }
}
