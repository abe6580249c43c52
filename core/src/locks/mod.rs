//! WebDAV's write locks (RFC 4918 sections 6 and 7), which every writer heeds, whatever its protocol.
//!
//! A lock belongs to a node: it doesn't move with it and isn't copied, and it goes when the node is moved or deleted. A
//! change needs the tokens of the locks that cover it, submitted by the account that made them: [`guard`] decides it
//! inside the commit. A lock that has expired is as if it weren't there.

mod covering;
mod discover;
mod guard;
mod lock;
mod refresh;
mod rows;
mod submitted;
mod survey;
mod unlock;

pub use discover::{Covering, discover};
pub use lock::{Locked, NewLock, lock};
pub use refresh::refresh;
pub use rows::{Lock, Root};
pub use submitted::{Condition, List, Resource, State, Submitted};
pub use survey::{break_lock, survey};
pub use unlock::unlock;

pub(crate) use guard::{Touched, check, conditions, guards, hold, look, refusal, remove_with};

use std::time::Duration;

use crate::ids::LockId;

/// The longest that a lock stays without being refreshed: who asks for more, or for ever, gets this. A client that
/// died holds up the others no longer.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What who doesn't ask gets.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The most locks of a space at a time: a guard may have to walk up from each.
pub const MAX_LOCKS: u64 = 1000;

/// The longest description of an owner, as XML.
pub const MAX_OWNER_BYTES: usize = 1024;

/// The most locks that are shown of a node, the oldest: a page of a listing stays small, whoever shares the folder.
pub const MAX_SHOWN: usize = 8;

const TOKEN_SCHEME: &str = "ldg:";

/// The token of a lock, a URI. It is short: with two of our entity tags it fits the 200 bytes that litmus has for an `If`
/// header, which the 45 bytes of a `urn:uuid:` don't.
pub fn token(id: &LockId) -> String {
    format!("{TOKEN_SCHEME}{}", id.as_str().replace('-', ""))
}

/// The lock that a token is of; None for what isn't a token of ours.
pub fn of_token(token: &str) -> Option<LockId> {
    let (scheme, id) = token.split_at_checked(TOKEN_SCHEME.len())?;
    let is_ours = scheme.eq_ignore_ascii_case(TOKEN_SCHEME) && id.len() == 32;
    is_ours.then(|| LockId::parse(id)).flatten()
}

/// Whom a lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everybody without its token; there is no other lock beside it.
    Exclusive,
    /// Everybody without the token of one of the shared locks.
    Shared,
}

impl Scope {
    /// The name in the database and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::Shared => "shared",
        }
    }
}

/// How far down a lock reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The node itself; of a folder, its list of members too.
    Zero,
    /// The node and all below.
    Infinity,
}

impl Depth {
    /// The name in the database and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "0",
            Self::Infinity => "infinity",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_tokens_are_locks() {
        let id = LockId::parse("018f0000-0000-7000-8000-000000000abc").unwrap();
        let token = token(&id);
        assert_eq!(token, "ldg:018f0000000070008000000000000abc");
        assert_eq!(of_token(&token), Some(id.clone()));
        assert_eq!(of_token(&token.to_uppercase()), Some(id));
        for token in
            ["", "DAV:no-lock", "ldg:", "ldg:x", "urn:uuid:018f0000-0000-7000-8000-000000000abc", "ldg\u{e9}"]
        {
            assert_eq!(of_token(token), None, "{token}");
        }
    }
}
