//! Tokens: app passwords and API keys.
//!
//! `ldg_`, 32 characters of base32 (160 random bits), 7 characters of checksum. The checksum lets a host turn
//! away a typing error or a scanner without asking the database, and secret scanners recognise the form. What
//! the database keeps is the SHA-256 of the whole text: 160 random bits need no slow hash.

use std::sync::LazyLock;

use data_encoding::{BASE32_NOPAD, Encoding};
use serde::{Deserialize, Serialize};

use crate::digest::Sha256;
use crate::locks::Submitted;
use crate::ports::Host;

const PREFIX: &str = "ldg_";
const SECRET_CHARS: usize = 32;
const CHECKSUM_CHARS: usize = 7;

/// RFC 4648's alphabet in lower case.
static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = BASE32_NOPAD.specification();
    specification.symbols.make_ascii_lowercase();
    // The built-in alphabet in another case is always a valid one; the fallback only differs in case.
    specification.encoding().unwrap_or(BASE32_NOPAD)
});

/// A well-formed token, the protocol by which it came, and the lock tokens and conditions that came with it. Whether it
/// is known, only the database can tell.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    secret: Secret,
    protocol: Protocol,
    submitted: Submitted,
}

#[derive(Clone, PartialEq, Eq)]
enum Secret {
    Text(String),
    /// All that is kept of it.
    Known(Sha256),
}

/// How a client speaks to the drive. A token may be limited to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// The REST API.
    Rest,
    /// WebDAV, with Nextcloud's dialect of it.
    WebDav,
}

impl Protocol {
    /// The name in the database and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::WebDav => "webdav",
        }
    }
}

impl Token {
    /// A new secret.
    pub fn new(host: &impl Host) -> Self {
        let mut secret = [0; 20];
        host.random(&mut secret);
        let body = format!("{PREFIX}{}", BASE32.encode(&secret));
        let checksum = checksum(&body);
        Self {
            secret: Secret::Text(body + &checksum),
            protocol: Protocol::Rest,
            submitted: Submitted::default(),
        }
    }

    /// Reads a token that a client of the REST API sent; None where its form or checksum is wrong.
    pub fn parse(text: &str) -> Option<Self> {
        let secret = text.strip_prefix(PREFIX)?;
        if !text.is_ascii() || secret.len() != SECRET_CHARS + CHECKSUM_CHARS {
            return None;
        }
        let (body, claimed) = text.split_at(PREFIX.len() + SECRET_CHARS);
        (checksum(body) == claimed).then(|| Self {
            secret: Secret::Text(text.to_owned()),
            protocol: Protocol::Rest,
            submitted: Submitted::default(),
        })
    }

    /// The token of which the database keeps this: for a job, which does what it was asked for with it.
    pub(crate) fn known(hash: Sha256) -> Self {
        Self { secret: Secret::Known(hash), protocol: Protocol::Rest, submitted: Submitted::default() }
    }

    /// The same token, come by another protocol.
    #[must_use]
    pub fn by(self, protocol: Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// The protocol by which it came.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The same token, with lock tokens and conditions: whatever it is used for heeds them.
    #[must_use]
    pub fn submitting(self, submitted: Submitted) -> Self {
        Self { submitted, ..self }
    }

    /// The lock tokens and conditions that came with it.
    pub fn submitted(&self) -> &Submitted {
        &self.submitted
    }

    /// What the database keeps.
    pub fn hash(&self) -> Sha256 {
        match &self.secret {
            Secret::Text(text) => Sha256::of(text.as_bytes()),
            Secret::Known(hash) => *hash,
        }
    }

    /// The text to show once to its owner; empty where it isn't known any more.
    pub fn reveal(&self) -> &str {
        match &self.secret {
            Secret::Text(text) => text,
            Secret::Known(_) => "",
        }
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(ldg_…)")
    }
}

fn checksum(body: &str) -> String {
    BASE32.encode(&crc32fast::hash(body.as_bytes()).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Fixed once and for all: tokens that people have stored must stay valid.
    const GOLDEN: &str = "ldg_aaaqeayeaudaocajbifqydiob4ibceqtwhzlsyy";

    #[test]
    fn a_stored_token_stays_valid() {
        let body = format!("ldg_{}", BASE32.encode(&(0..20).collect::<Vec<u8>>()));
        assert_eq!(format!("{body}{}", checksum(&body)), GOLDEN);
        assert!(Token::parse(GOLDEN).is_some());
    }

    #[test]
    fn any_changed_character_is_noticed_without_the_database() {
        for at in 4..GOLDEN.len() {
            let mut text = GOLDEN.to_owned().into_bytes();
            text[at] = if text[at] == b'b' { b'c' } else { b'b' };
            assert_eq!(Token::parse(std::str::from_utf8(&text).unwrap()), None, "at {at}");
        }
        for text in
            ["", "ldg_", "ldg", "LDG_x", &GOLDEN[1..], &format!("{GOLDEN}a"), "ldg_ééééééééééééééééééé"]
        {
            assert_eq!(Token::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_token_is_never_printed_by_accident() {
        assert_eq!(format!("{:?}", Token::parse(GOLDEN).unwrap()), "Token(ldg_…)");
    }
}
