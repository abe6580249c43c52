//! Names and paths.
//!
//! A name is kept as it was sent and found by its NFC form, so that macOS (NFD) and everybody else meet the same
//! file. Paths exist only in requests: they are never stored.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, Result};

/// The longest name: what file systems on the clients' side can hold.
pub const MAX_NAME_BYTES: usize = 255;
/// The deepest path, in names.
pub const MAX_DEPTH: usize = 128;

/// A name that a node may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name {
    raw: String,
    nfc: String,
}

impl Name {
    /// Checks a decoded name: 1 to 255 bytes of UTF-8 without `/`, NUL and other controls, not `.` or `..`.
    pub fn parse(raw: &str) -> Result<Self> {
        let reject = |reason: &str| Err(Error::invalid("path", format!("the name {raw:?} {reason}")));
        if raw.is_empty() {
            return reject("is empty");
        }
        let nfc: String = raw.nfc().collect();
        if raw.len() > MAX_NAME_BYTES || nfc.len() > MAX_NAME_BYTES {
            let start: String = raw.chars().take(20).collect();
            return Err(Error::invalid(
                "path",
                format!("the name {start:?}… has {} bytes, the limit is {MAX_NAME_BYTES}", raw.len()),
            ));
        }
        if raw == "." || raw == ".." {
            return reject("is reserved");
        }
        if raw.contains('/') {
            return reject("contains a slash");
        }
        if raw.chars().any(char::is_control) {
            return reject("contains a control character");
        }
        Ok(Self { raw: raw.to_owned(), nfc })
    }

    /// The name as it was sent.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// The name as it is found.
    pub fn nfc(&self) -> &str {
        &self.nfc
    }
}

impl TryFrom<String> for Name {
    type Error = Error;

    fn try_from(raw: String) -> Result<Self> {
        Self::parse(&raw)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.raw
    }
}

/// The names from a space's root to a node; none for the root itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path(Vec<Name>);

impl Path {
    /// Checks decoded names.
    pub fn parse<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self> {
        let names = names.into_iter().map(|name| Name::parse(name.as_ref())).collect::<Result<Vec<_>>>()?;
        if names.len() > MAX_DEPTH {
            return Err(Error::invalid(
                "path",
                format!("{} names deep, the limit is {MAX_DEPTH}", names.len()),
            ));
        }
        Ok(Self(names))
    }

    /// The number of names.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// The names.
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// The node's own name; None for the root.
    pub fn last(&self) -> Option<&Name> {
        self.0.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_clients_use_are_kept_as_sent() {
        for name in
            ["a", "a:b.txt", "100%25.txt", "a..b", "...", " x ", "t #:?3", "\u{1f9ff}", "cafe\u{301}", "\\"]
        {
            assert_eq!(Name::parse(name).unwrap().as_str(), name);
        }
        assert_eq!(Name::parse("cafe\u{301}").unwrap().nfc(), Name::parse("caf\u{e9}").unwrap().nfc());
        assert!(Name::parse(&"x".repeat(255)).is_ok());
        assert!(Name::parse(&"é".repeat(127)).is_ok());
    }

    #[test]
    fn names_that_break_the_rule_say_which() {
        for (name, rule) in [
            ("", "empty"),
            (".", "reserved"),
            ("..", "reserved"),
            ("a/b", "slash"),
            ("a\0b", "control"),
            ("a\r\nb", "control"),
            ("a\u{7f}", "control"),
            (&"x".repeat(256), "255"),
            (&"é".repeat(128), "255"),
        ] {
            let error = Name::parse(name).unwrap_err().to_string();
            assert!(error.contains(rule), "{name:?}: {error}");
        }
    }

    #[test]
    fn paths_end_at_128_names() {
        assert!(Path::parse(vec!["x"; 128]).is_ok());
        assert!(Path::parse(vec!["x"; 129]).is_err());
    }
}
