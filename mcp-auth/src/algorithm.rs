//! The signature algorithms of tokens.
//!
//! Source: RFC 7518 section 3, RFC 8037 section 3.1, RFC 9864 section 2.

use std::fmt;

/// How a token is signed: with a private key whose public half the authorization server shows.
///
/// Shared secrets (`HS256` and its kin) and `none` are not among them, so that no configuration
/// lets them in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// `RS256`: RSA PKCS #1 v1.5 with SHA-256.
    Rs256,
    /// `RS384`: RSA PKCS #1 v1.5 with SHA-384.
    Rs384,
    /// `RS512`: RSA PKCS #1 v1.5 with SHA-512.
    Rs512,
    /// `PS256`: RSA PSS with SHA-256.
    Ps256,
    /// `PS384`: RSA PSS with SHA-384.
    Ps384,
    /// `PS512`: RSA PSS with SHA-512.
    Ps512,
    /// `ES256`: ECDSA on P-256 with SHA-256.
    Es256,
    /// `ES384`: ECDSA on P-384 with SHA-384.
    Es384,
    /// `EdDSA` or `Ed25519`: the signature scheme of RFC 8032 on Curve25519.
    EdDsa,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];

    /// The algorithm that a header or a key calls by that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == "Ed25519" {
            return Some(Self::EdDsa);
        }
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// What `alg` calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    /// What the library calls it.
    pub(crate) const fn in_library(self) -> jsonwebtoken::Algorithm {
        match self {
            Self::Rs256 => jsonwebtoken::Algorithm::RS256,
            Self::Rs384 => jsonwebtoken::Algorithm::RS384,
            Self::Rs512 => jsonwebtoken::Algorithm::RS512,
            Self::Ps256 => jsonwebtoken::Algorithm::PS256,
            Self::Ps384 => jsonwebtoken::Algorithm::PS384,
            Self::Ps512 => jsonwebtoken::Algorithm::PS512,
            Self::Es256 => jsonwebtoken::Algorithm::ES256,
            Self::Es384 => jsonwebtoken::Algorithm::ES384,
            Self::EdDsa => jsonwebtoken::Algorithm::EdDSA,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
