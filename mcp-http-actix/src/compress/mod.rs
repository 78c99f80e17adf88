//! Answers in gzip, for clients that accept it.
//!
//! Source: RFC 9110 sections 8.4.1.3 and 12.5.3.

mod gzip;

use actix_web::{
    HttpResponse,
    body::{BodySize, MessageBody},
    http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY},
};

use crate::{Endpoint, negotiate};

impl Endpoint {
    /// Whether clients that accept gzip get their answers in it; off by default. Needs the feature
    /// `compress`.
    ///
    /// Event streams are compressed, and other answers from 1 KiB on. An event waits for no other:
    /// each can be read as soon as it is sent. A stream in use takes 312 KiB more memory, a silent
    /// one nothing.
    ///
    /// # Security
    ///
    /// The length of a compressed answer depends on its content. Who sees that length, and can put
    /// text of their own into an answer that also has a secret, guesses the secret bit by bit,
    /// encrypted or not (BREACH). Do not compress where secrets and attacker controlled text share
    /// an answer or a stream.
    #[must_use]
    pub fn compress(mut self, compress: bool) -> Self {
        self.compress = compress;
        self
    }

    /// The response in the coding that its client is best served with.
    pub(crate) fn encoded(&self, request: &HeaderMap, response: HttpResponse) -> HttpResponse {
        if !self.compress || !is_worthwhile(&response) {
            return response;
        }
        let (mut head, body) = response.into_parts();
        let vary = HeaderValue::from_static("Accept-Encoding");
        head.headers_mut().append(VARY, vary);
        if !accepts_gzip(request) {
            return head.set_body(body);
        }
        match gzip::encoded(body) {
            Ok(body) => {
                let gzip = HeaderValue::from_static("gzip");
                head.headers_mut().insert(CONTENT_ENCODING, gzip);
                head.set_body(body)
            }
            Err(body) => head.set_body(body),
        }
    }
}

fn is_worthwhile(response: &HttpResponse) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    match response.body().size() {
        BodySize::None | BodySize::Sized(0) => false,
        BodySize::Sized(length) => {
            length >= LEAST || kind.is_some_and(|kind| kind == "text/event-stream")
        }
        BodySize::Stream => true,
    }
}

/// Reads `Accept-Encoding`: absent means that nobody asked for gzip.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut identity, mut any) = (None, None, None);
    let values = headers.get_all(ACCEPT_ENCODING);
    let values = values.filter_map(|value| value.to_str().ok());
    for coding in values.flat_map(|value| value.split(',')) {
        let (name, weight) = negotiate::weighed(coding);
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let named = match name {
            "*" => &mut any,
            _ if is("gzip") || is("x-gzip") => &mut gzip,
            _ if is("identity") => &mut identity,
            _ => continue,
        };
        *named = Some(named.map_or(weight, |other: f32| other.max(weight)));
    }
    let gzip = gzip.or(any).unwrap_or_default();
    gzip > 0.0 && identity.is_none_or(|identity| gzip >= identity)
}

/// Complete answers that are shorter are left alone.
const LEAST: u64 = 1 << 10;

#[cfg(test)]
mod tests {
    use actix_web::{body::to_bytes, rt};

    use super::{gzip::tests::Decoder, *};

    #[test]
    fn accept_encoding() {
        for (values, expected) in [
            (&[][..], false),
            (&[""], false),
            (&["gzip"], true),
            (&["GZip"], true),
            (&["x-gzip"], true),
            (&["gzipped"], false),
            (&["gzip, deflate, br, zstd"], true),
            (&["br ,\tgzip ; q=0.1"], true),
            (&["br", "gzip"], true),
            (&["identity"], false),
            (&["deflate, br"], false),
            (&["*"], true),
            (&["*;q=0"], false),
            (&["*;q=0, gzip"], true),
            (&["*", "gzip;q=0"], false),
            (&["br;q=1, *;q=0.1"], true),
            (&["gzip;q=0"], false),
            (&["gzip;q=0.000"], false),
            (&["gzip;q=0."], false),
            (&["gzip;Q=0.001"], true),
            (&["gzip;q=1.000"], true),
            (&["gzip;q=-1"], false),
            (&["gzip;q="], false),
            (&["gzip;q=0.5, identity"], false),
            (&["gzip;q=0.5, identity;q=0.49"], true),
            (&["gzip;q=0.5, identity;q=0.5"], true),
            (&["identity;q=0, gzip;q=0.1"], true),
            (&["identity;q=0"], false),
            (&["gzip;q=0, x-gzip"], true),
            (&[",, gzip,"], true),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT_ENCODING, HeaderValue::from_str(value).unwrap());
            }
            assert_eq!(accepts_gzip(&headers), expected, "{values:?}");
        }
    }

    fn answer(kind: &'static str, length: usize, accept: &'static str) -> HttpResponse {
        let registry = mcp_core::Registry::builder("test", "1");
        let registry = registry.build(mcp_core::ServerConfig::default()).unwrap();
        let mut request = HeaderMap::new();
        request.insert(ACCEPT_ENCODING, HeaderValue::from_static(accept));
        let response = HttpResponse::Ok()
            .content_type(kind)
            .body(vec![b' '; length]);
        let endpoint = Endpoint::new(registry).compress(true);
        endpoint.encoded(&request, response)
    }

    #[test]
    fn what_is_compressed() {
        for (kind, length, accept, varies, gzip) in [
            ("application/json", 1023, "gzip", false, false),
            ("application/json", 1024, "gzip", true, true),
            ("application/json", 1024, "br", true, false),
            ("text/event-stream", 100, "gzip", true, true),
            ("text/event-stream", 100, "gzip;q=0", true, false),
            ("text/event-stream", 0, "gzip", false, false),
        ] {
            let response = answer(kind, length, accept);
            let case = format!("{kind} {length} {accept}");
            let header = |name| response.headers().get(name).map(HeaderValue::as_bytes);
            assert_eq!(
                header(VARY),
                varies.then_some(&b"Accept-Encoding"[..]),
                "{case}"
            );
            assert_eq!(
                header(CONTENT_ENCODING),
                gzip.then_some(&b"gzip"[..]),
                "{case}"
            );
            let body = rt::System::new().block_on(to_bytes(response.into_body()));
            let mut body = body.unwrap().to_vec();
            if gzip {
                let mut decoder = Decoder::new();
                body = decoder.read(&body);
                assert!(decoder.ended, "{case}");
            }
            assert_eq!(body, vec![b' '; length], "{case}");
        }
    }
}
