//! The hosts that proxies say they were asked for.
//!
//! Source: RFC 7239 sections 4 and 5.3 (`Forwarded`); `X-Forwarded-Host` is older and has none.

use std::borrow::Cow;

use actix_web::http::header::{FORWARDED, HeaderMap, HeaderName, X_FORWARDED_HOST};

/// Every host that was forwarded, the outermost proxy's first; empty where no proxy said any.
///
/// # Errors
///
/// The header that nobody can read.
pub(super) fn hosts(headers: &HeaderMap) -> Result<Vec<Cow<'_, str>>, HeaderName> {
    let mut hosts = Vec::new();
    for value in headers.get_all(FORWARDED) {
        let text = value.to_str().map_err(|_| FORWARDED)?;
        elements(text, &mut hosts).ok_or(FORWARDED)?;
    }
    for value in headers.get_all(X_FORWARDED_HOST) {
        let text = value.to_str().map_err(|_| X_FORWARDED_HOST)?;
        let names = text.split(',').map(str::trim);
        hosts.extend(names.filter(|it| !it.is_empty()).map(Cow::Borrowed));
    }
    Ok(hosts)
}

/// `for=192.0.2.60;host="mcp.example.com:443", for=…`
fn elements<'a>(text: &'a str, hosts: &mut Vec<Cow<'a, str>>) -> Option<()> {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix([',', ';']) {
            rest = after.trim_start();
            continue;
        }
        let (name, after) = rest.split_once('=')?;
        if !is_token(name) {
            return None;
        }
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = after.find([',', ';', ' ', '\t']).unwrap_or(after.len());
                let (value, after) = after.split_at_checked(end)?;
                (Cow::Borrowed(value), after)
            }
        };
        if name.eq_ignore_ascii_case("host") {
            hosts.push(value);
        }
        rest = after.trim_start();
        if !rest.is_empty() && !rest.starts_with([',', ';']) {
            return None;
        }
    }
    Some(())
}

/// The text of a quoted string from behind its first quote, and what follows it.
fn unquoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut value = String::new();
    let mut letters = text.chars();
    loop {
        match letters.next()? {
            '"' => return Some((Cow::Owned(value), letters.as_str())),
            '\\' => value.push(letters.next()?),
            letter => value.push(letter),
        }
    }
}

fn is_token(text: &str) -> bool {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(sound)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn read(lines: &[(HeaderName, &'static str)]) -> Result<Vec<String>, HeaderName> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        Ok(hosts(&headers)?.into_iter().map(Cow::into_owned).collect())
    }

    #[test]
    fn hosts_are_read_as_rfc_7239_has_them() {
        for (text, expected) in [
            ("", &[][..]),
            ("for=192.0.2.60;proto=http;by=203.0.113.43", &[]),
            ("host=a.example", &["a.example"]),
            (
                "For=\"[2001:db8::1]:4711\";Host=\"a.example:443\"",
                &["a.example:443"],
            ),
            (
                "host=a.example, for=1.2.3.4;host=b.example",
                &["a.example", "b.example"],
            ),
            ("host=\"a\\.example\" ; proto=https", &["a.example"]),
            (
                "for=\"a, host=evil.example\";host=a.example",
                &["a.example"],
            ),
            (", ,host=a.example,", &["a.example"]),
        ] {
            let expected = expected.iter().map(|&it| it.to_owned()).collect();
            assert_eq!(read(&[(FORWARDED, text)]), Ok(expected), "{text}");
        }
        for text in [
            "host",
            "host=\"a",
            "host=\"a\\",
            "=a",
            "ho st=a",
            "host=a b",
            "host=\"a\"b",
        ] {
            assert_eq!(read(&[(FORWARDED, text)]), Err(FORWARDED), "{text}");
        }
    }

    #[test]
    fn every_proxy_is_heard() {
        let lines = [
            (X_FORWARDED_HOST, "a.example, b.example"),
            (X_FORWARDED_HOST, "c.example"),
            (FORWARDED, "host=d.example"),
        ];
        let expected = ["d.example", "a.example", "b.example", "c.example"];
        assert_eq!(read(&lines), Ok(expected.map(str::to_owned).into()));
    }
}
