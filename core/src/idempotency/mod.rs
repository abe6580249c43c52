//! `Idempotency-Key`: a request that makes something takes effect once, however often its client sends it.
//!
//! The answer is stored by the commit that it answers, in the same batch, under the token and the key, which are unique
//! together. So there is never an effect without its answer or the reverse, nothing is ever "in progress", and of two
//! requests at once the second one's commit is refused and finds the first one's answer. The look-up joins each of the
//! request's reads: it costs no round trip. [`Once`] does all that around the database; use cases only tell their
//! result before they commit it.
//!
//! Requests that fail aren't stored: they had no effect, and may be sent again.

mod once;
mod rows;

pub use once::Once;

use serde::{Deserialize, Serialize};

use crate::digest::Sha256;
use crate::ids::SpaceId;
use crate::token::Token;

/// How long an answer is kept.
pub const KEPT_SECS: i64 = 24 * 60 * 60;

/// The longest key. A UUID has 36 characters.
const MAX_KEY_BYTES: usize = 255;

/// What a client calls a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Reads a key: 1 to 255 visible characters of ASCII. The quotes of a structured field's string don't count.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        let is_key =
            (1..=MAX_KEY_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        (is_key && !text.contains('"')).then(|| Self(text.to_owned()))
    }
}

/// A request with a key.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Who sends it.
    pub token: Token,
    /// What it calls it.
    pub key: Key,
    /// The space that it is about; None where it makes a token.
    pub space: Option<SpaceId>,
    /// Of all that makes it this request and no other.
    pub fingerprint: Sha256,
}

/// An answer that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body; None where it holds a secret, which is never stored.
    pub body: Option<String>,
}

/// What an earlier request with the same key came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// It was the same: this is its answer.
    Same(Answer),
    /// It was another one.
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_1_to_255_visible_characters_with_or_without_quotes() {
        assert_eq!(Key::parse("\"8e03978e\""), Key::parse(" 8e03978e "));
        assert!(Key::parse(&"k".repeat(255)).is_some());
        for text in ["", "\"\"", "\"", "a b", "a\"b", "ä", "a\u{7f}", &"k".repeat(256)] {
            assert_eq!(Key::parse(text), None, "{text:?}");
        }
    }
}
