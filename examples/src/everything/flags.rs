//! The words of the command line.

use mcp_core::{PageSize, SessionMode};

use crate::login::Login;

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) allow_hosts: Vec<String>,
    pub(crate) allow_origins: Vec<String>,
    pub(crate) bind: String,
    pub(crate) stdio: bool,
    pub(crate) keys: Vec<String>,
    pub(crate) name: String,
    pub(crate) page_size: PageSize,
    pub(crate) sessions: SessionMode,
    pub(crate) sse: bool,
    pub(crate) public_url: Option<String>,
    pub(crate) auth: Option<Login>,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            bind: "127.0.0.1:3000".to_owned(),
            stdio: false,
            keys: Vec::new(),
            name: "everything".to_owned(),
            page_size: PageSize::default(),
            sessions: SessionMode::Stateful,
            sse: false,
            public_url: None,
            auth: None,
        }
    }
}

impl Flags {
    /// Reads the words after the program's name; what is wrong with them comes back as a sentence.
    pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self::default();
        let mut words = words.into_iter();
        while let Some(flag) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{flag} needs a value"));
            match flag.as_str() {
                "--allow-host" => flags.allow_hosts.push(value()?),
                "--allow-origin" => flags.allow_origins.push(value()?),
                "--bind" => flags.bind = value()?,
                "--stdio" => flags.stdio = true,
                "--key" => flags.keys.push(value()?),
                "--name" => flags.name = value()?,
                "--sessions" => flags.sessions = sessions(&value()?)?,
                "--sse" => flags.sse = true,
                "--public-url" => flags.public_url = Some(value()?),
                "--auth" => flags.auth = Some(Login::parse(&value()?)?),
                "--page-size" => flags.page_size = page_size(&value()?)?,
                _ => return Err(format!("unknown flag {flag:?}")),
            }
        }
        flags.check()
    }

    /// Whether the words go together.
    fn check(self) -> Result<Self, String> {
        match (&self.auth, &self.public_url, self.stdio) {
            (Some(_), _, true) | (_, Some(_), true) => {
                Err("--auth and --public-url are for HTTP, and --stdio has none".to_owned())
            }
            (Some(_), None, false) => {
                let why = "tokens are for that address, and its metadata names it";
                Err(format!("--auth needs --public-url as well: {why}"))
            }
            _ => Ok(self),
        }
    }
}

fn sessions(value: &str) -> Result<SessionMode, String> {
    match value {
        "memory" => Ok(SessionMode::Stateful),
        "optional" => Ok(SessionMode::Optional),
        "stateless" => Ok(SessionMode::Stateless),
        _ => Err(format!(
            "--sessions is `memory`, `optional` or `stateless`, not {value:?}"
        )),
    }
}

fn page_size(value: &str) -> Result<PageSize, String> {
    let size = value.parse().ok().and_then(PageSize::new);
    size.ok_or_else(|| format!("--page-size needs a number from 1 on, not {value:?}"))
}

pub(crate) const USAGE: &str = "\
usage: everything [FLAG]...
  --bind ADDR:PORT   serve HTTP there, at /mcp (127.0.0.1:3000; port 0 takes a free one)
  --allow-host HOST  serve requests for that host as well as for loopback: mcp.example.com,
                     *.example.com, [2001:db8::7]:8443; repeat it for more
  --allow-origin ORIGIN
                     let pages of that origin in: https://app.example.com,
                     https://*.example.com; repeat it for more
  --stdio            serve standard input and output instead
  --key SECRET       seal what clients hold with this; repeat it to rotate, the first one seals
  --name NAME        what the server is called (everything)
  --sessions KIND    of handshake clients over HTTP: memory; optional, if they
                     like; stateless, for none (memory)
  --sse              serve the old HTTP+SSE transport too, at /sse and /messages
  --page-size N      entries on a page of a listing
  --public-url URL   what clients call the endpoint: https://mcp.example.com/mcp
  --auth WHO         who may call, with a token of an authorization server:
                     jwks:FILE_OR_URL,issuer=URL,audience=URL (more audiences may follow)";

#[cfg(test)]
mod tests {
    use mcp_core::{PageSize, SessionMode};

    use super::Flags;

    fn parse(words: &str) -> Result<Flags, String> {
        Flags::parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn reads_every_flag() {
        assert_eq!(parse(""), Ok(Flags::default()));
        let given = parse(
            "--bind [::1]:0 --key a --key b --name x --page-size 2 --stdio --sessions stateless --sse \
             --allow-host a.example --allow-host *.b.example --allow-origin https://c.example",
        );
        let wanted = Flags {
            allow_hosts: vec!["a.example".to_owned(), "*.b.example".to_owned()],
            allow_origins: vec!["https://c.example".to_owned()],
            bind: "[::1]:0".to_owned(),
            stdio: true,
            keys: vec!["a".to_owned(), "b".to_owned()],
            name: "x".to_owned(),
            page_size: PageSize::new(2).unwrap(),
            sessions: SessionMode::Stateless,
            sse: true,
            ..Flags::default()
        };
        assert_eq!(given, Ok(wanted));
        let given =
            parse("--public-url https://m/mcp --auth jwks:k.json,issuer=https://i,audience=a");
        let given = given.unwrap();
        assert_eq!(given.public_url.as_deref(), Some("https://m/mcp"));
        assert!(given.auth.is_some());
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong = |words: &str| parse(words).unwrap_err();
        assert_eq!(wrong("--port 1"), "unknown flag \"--port\"");
        assert_eq!(wrong("--bind"), "--bind needs a value");
        assert!(wrong("--page-size 0").contains("from 1 on"));
        assert!(wrong("--page-size x").contains("from 1 on"));
        assert!(wrong("--sessions redis").contains("not \"redis\""));
        let auth = "--auth jwks:k.json,issuer=https://i,audience=a";
        assert!(wrong(auth).contains("--public-url"));
        assert!(wrong(&format!("{auth} --public-url https://m --stdio")).contains("--stdio"));
        assert!(wrong("--public-url https://m --stdio").contains("--stdio"));
        assert!(parse("--public-url https://m").is_ok());
    }
}
