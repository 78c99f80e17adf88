//! The address that identifies a server to those who issue tokens.
//!
//! Source: RFC 8707 section 2, RFC 3986 sections 6.2.2 and 6.2.3; `basic/authorization` of
//! 2025-06-18 and newer, "Canonical Server URI".

use std::fmt;

/// An `http` or `https` URI in its normal form: lower case, no default port, no dot segments, no
/// empty path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ResourceUri {
    scheme: &'static str,
    /// Host and port.
    authority: String,
    /// Empty, or from its first slash on.
    path: String,
    /// From its question mark on.
    query: String,
}

impl ResourceUri {
    /// Reads an absolute URI without user information and fragment; `None` where it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (scheme, default_port) = match scheme {
            it if it.eq_ignore_ascii_case("https") => ("https", "443"),
            it if it.eq_ignore_ascii_case("http") => ("http", "80"),
            _ => return None,
        };
        let visible = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte);
        if !rest.bytes().all(visible) {
            return None;
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at_checked(end)?;
        let (path, query) = rest.split_at_checked(rest.find('?').unwrap_or(rest.len()))?;
        let path = without_dots(&unescaped(path)?);
        Some(Self {
            scheme,
            authority: authority_of(authority, default_port)?,
            path: if path == "/" { String::new() } else { path },
            query: unescaped(query)?,
        })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    pub(super) fn query(&self) -> &str {
        &self.query
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scheme,
            authority,
            path,
            query,
        } = self;
        write!(formatter, "{scheme}://{authority}{path}{query}")
    }
}

/// Whether two addresses name the same server: equal in their normal form (RFC 3986 sections
/// 6.2.2 and 6.2.3), or, where one is no address, equal to the letter.
///
/// ```
/// use mcp_core::auth::same_resource;
///
/// assert!(same_resource("https://mcp.example.com", "HTTPS://MCP.example.com:443/"));
/// assert!(!same_resource("https://mcp.example.com", "https://mcp.example.com/mcp"));
/// ```
#[must_use]
pub fn same_resource(one: &str, other: &str) -> bool {
    one == other
        || match (ResourceUri::parse(one), ResourceUri::parse(other)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        }
}

/// Host and port in their normal form.
fn authority_of(authority: &str, default_port: &str) -> Option<String> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if digits(port) => (host, port),
        _ => (authority, ""),
    };
    let bracketed = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let sound = match bracketed {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.contains(['@', ':', '[', ']', '%']),
    };
    if !sound || port.len() > 5 {
        return None;
    }
    let host = host.to_ascii_lowercase();
    Some(if port.is_empty() || port == default_port {
        host
    } else {
        format!("{host}:{port}")
    })
}

/// Percent-encoded octets as RFC 3986 section 6.2.2.2 has them: unreserved characters as they are,
/// others in capital letters.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split('%');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        let byte = u8::from_str_radix(code, 16).ok()?;
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&code.to_ascii_uppercase());
        }
        out.push_str(rest);
    }
    Some(out)
}

/// RFC 3986 section 5.2.4.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    kept.iter().fold(String::new(), |mut path, segment| {
        path.push('/');
        path.push_str(segment);
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a34_equal_up_to_rfc_3986() {
        let resource = "https://mcp.example.com/mcp";
        for same in [
            resource,
            "HTTPS://MCP.example.com:443/mcp",
            "https://mcp.example.com:/mcp",
            "https://mcp.example.com/%6dcp",
            "https://mcp.example.com/a/../mcp",
        ] {
            assert!(same_resource(resource, same), "{same}");
        }
        for other in [
            "https://other.example/mcp",
            "https://mcp.example.com",
            "https://mcp.example.com/mcp/",
            "https://mcp.example.com/MCP",
            "https://mcp.example.com:8443/mcp",
            "http://mcp.example.com/mcp",
            "https://user@mcp.example.com/mcp",
            "https://mcp.example.com/mcp#f",
            "https://mcp.example.com/mcp?q",
            "mcp.example.com/mcp",
            "",
        ] {
            assert!(!same_resource(resource, other), "{other}");
        }
        assert!(same_resource(
            "https://mcp.example.com",
            "https://mcp.example.com/"
        ));
        assert!(same_resource("urn:example:mcp", "urn:example:mcp"));
        assert!(!same_resource("urn:example:mcp", "URN:example:mcp"));
    }

    #[test]
    fn writes_the_normal_form() {
        for (text, normal) in [
            ("HTTP://[::1]:80/", "http://[::1]"),
            ("http://LOCALHOST:3000/mcp", "http://localhost:3000/mcp"),
            ("https://h/a%2fb%7e/./c?x=%41", "https://h/a%2Fb~/c?x=A"),
            ("https://h/a/..", "https://h"),
        ] {
            let uri = ResourceUri::parse(text).unwrap();
            assert_eq!(uri.to_string(), normal);
            assert_eq!(ResourceUri::parse(normal), Some(uri));
        }
        for bad in [
            "https://",
            "https:///p",
            "https://h\"/",
            "https://h /",
            "https://h/%zz",
            "https://h/%4",
            "https://[::1/",
            "https://h:123456/",
            "https://h:p/",
            "ftp://h/",
        ] {
            assert_eq!(ResourceUri::parse(bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived_and_the_normal_form_is_stable(text in "https?://[ -~]{0,40}|.{0,20}") {
            if let Some(uri) = ResourceUri::parse(&text) {
                let normal = uri.to_string();
                proptest::prop_assert!(same_resource(&text, &normal));
                proptest::prop_assert_eq!(ResourceUri::parse(&normal), Some(uri));
            }
        }
    }
}
