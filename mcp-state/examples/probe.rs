//! Makes the crate testable from any language: one JSON object a line in, one out.
//!
//! ```text
//! cargo run -q --release -p mcp-state --example probe
//!
//! {"op":"seal","key_hex","nonce_hex","payload_hex"}                          {"token"}
//! {"op":"unseal","ring_hex":[],"token"}                                      {"payload_hex"} or {"reason"}
//! {"op":"identity","method","params_json"}                                   {"target","args_digest","canonical"}
//! {"op":"envelope","ring_hex":[],"method","params_json","state","audience",
//!  "principal","ttl","now","random_hex":[]}                                  {"token","envelope"}
//! {"op":"open","ring_hex":[],"method","params_json","audience","principal",
//!  "at","token"}                                                             {"state"} or {"reason"}
//! ```
//!
//! An absent audience or principal is null. A bad line gives `{"error"}` and the next one works.

use std::io::{self, BufRead, Write};

use mcp_state::{
    AesGcmCodec, Boundary, InvalidRequestState, KeyRing, PrincipalBinding, Request,
    RequestStateSecurity,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

type Error = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, Error>;

/// The members of every operation; each takes those it needs.
#[derive(Deserialize)]
struct Line<'a> {
    op: String,
    key_hex: Option<String>,
    nonce_hex: Option<String>,
    payload_hex: Option<String>,
    ring_hex: Option<Vec<String>>,
    random_hex: Option<Vec<String>>,
    token: Option<Value>,
    method: Option<String>,
    params_json: Option<String>,
    state: Option<String>,
    audience: Option<String>,
    principal: Option<String>,
    // As text: serde_json's own reading of a float may be off by one unit in the last place.
    #[serde(borrow)]
    ttl: Option<&'a RawValue>,
    #[serde(borrow)]
    now: Option<&'a RawValue>,
    #[serde(borrow)]
    at: Option<&'a RawValue>,
}

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            let error = |error: Error| json!({"error": error.to_string()}).to_string();
            writeln!(output, "{}", answer(&line).unwrap_or_else(error))?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

fn answer(line: &[u8]) -> Result<String> {
    let line: Line<'_> = serde_json::from_slice(line)?;
    let answer = match line.op.as_str() {
        "seal" => line.seal()?,
        "unseal" => line.unseal()?,
        "identity" => return line.identity(),
        "envelope" => line.envelope()?,
        "open" => line.open()?,
        other => return Err(format!("no such op: {other}").into()),
    };
    Ok(answer.to_string())
}

impl Line<'_> {
    fn seal(&self) -> Result<Value> {
        let key = bytes(need(self.key_hex.as_deref(), "key_hex")?)?;
        let nonce = fixed(need(self.nonce_hex.as_deref(), "nonce_hex")?)?;
        let payload = bytes(need(self.payload_hex.as_deref(), "payload_hex")?)?;
        // What another implementation seals has no limit, so what is compared with it has none.
        let codec = AesGcmCodec::new(&KeyRing::new([key])?).with_max_token_len(usize::MAX);
        Ok(json!({"token": codec.seal_with_nonce(&payload, nonce)?}))
    }

    fn unseal(&self) -> Result<Value> {
        let codec = AesGcmCodec::new(&self.ring()?);
        let token = need(self.token.as_ref().and_then(Value::as_str), "token")?;
        Ok(match codec.unseal(token) {
            Ok(payload) => json!({"payload_hex": hex(&payload)}),
            Err(refused) => reason(&refused),
        })
    }

    /// As text: a target may be a lone surrogate, which no `Value` can hold.
    fn identity(&self) -> Result<String> {
        let request = self.request()?;
        let identity = request.identity()?;
        let (target, digest) = (identity.target_json(), json!(identity.args_digest()));
        let canonical = json!(request.canonical_arguments()?);
        Ok(format!(
            r#"{{"target":{target},"args_digest":{digest},"canonical":{canonical}}}"#
        ))
    }

    fn envelope(&self) -> Result<Value> {
        let ring = self.ring()?;
        let ttl = number(need(self.ttl, "ttl")?)?;
        let now = number(need(self.now, "now")?)?;
        let state = need(self.state.as_deref(), "state")?;
        let random = need(self.random_hex.as_deref(), "random_hex")?;
        let (salt, nonce) = match random {
            [nonce] => ([0; 8], fixed(nonce)?),
            [salt, nonce] => (fixed(salt)?, fixed(nonce)?),
            _ => return Err("random_hex holds a nonce, or a salt and a nonce".into()),
        };
        let boundary = self.boundary(&ring, ttl)?;
        let binding = boundary.bind(&self.request()?)?;
        if binding.has_principal() != (random.len() == 2) {
            return Err("random_hex holds a salt exactly where there is a principal".into());
        }
        let envelope = boundary.envelope_at(&binding, state, now, salt)?;
        let token = AesGcmCodec::new(&ring).seal_with_nonce(&envelope, nonce)?;
        Ok(json!({"token": token, "envelope": String::from_utf8(envelope)?}))
    }

    fn open(&self) -> Result<Value> {
        let boundary = self.boundary(&self.ring()?, 600.0)?;
        let request = self.request()?;
        let at = number(need(self.at, "at")?)?;
        let token = match &self.token {
            Some(Value::String(token)) => token,
            None | Some(Value::Null) => return Ok(json!({"state": null})),
            Some(_) => return Ok(json!({"reason": "non-string requestState"})),
        };
        Ok(match boundary.open_at(&request, token, at) {
            Ok(opened) => json!({"state": opened.state()}),
            Err(refused) => reason(&refused),
        })
    }

    fn ring(&self) -> Result<KeyRing> {
        let secrets = need(self.ring_hex.as_ref(), "ring_hex")?;
        let secrets: Vec<_> = secrets
            .iter()
            .map(|secret| bytes(secret))
            .collect::<Result<_>>()?;
        Ok(KeyRing::new(secrets)?)
    }

    fn request(&self) -> Result<Request<'_>> {
        let method = need(self.method.as_deref(), "method")?;
        Ok(Request::new(method, self.params_json.as_deref()))
    }

    fn boundary(&self, ring: &KeyRing, ttl: f64) -> Result<Boundary> {
        let principal = self.principal.clone();
        let security = RequestStateSecurity::with_keys(ring)
            .ttl_seconds(ttl)?
            .principal(PrincipalBinding::custom(move |_| Ok(principal.clone())));
        Ok(Boundary::new(security, self.audience.as_deref()))
    }
}

fn reason(refused: &InvalidRequestState) -> Value {
    json!({"reason": refused.reason().as_str()})
}

fn need<T>(member: Option<T>, name: &str) -> Result<T> {
    member.ok_or_else(|| format!("missing {name}").into())
}

fn number(raw: &RawValue) -> Result<f64> {
    Ok(raw.get().parse()?)
}

fn fixed<const N: usize>(hex: &str) -> Result<[u8; N]> {
    bytes(hex)?
        .try_into()
        .map_err(|_| format!("not {N} bytes").into())
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else {
        return Err("odd hex".into());
    };
    let digit = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|it| u8::try_from(it).ok())
    };
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect::<Option<_>>()
        .ok_or_else(|| "not hex".into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
