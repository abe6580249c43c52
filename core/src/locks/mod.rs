//! WebDAV's write locks (RFC 4918 sections 6 and 7), which every writer heeds, whatever its protocol.
//!
//! A lock belongs to a node: it doesn't move with it and isn't copied, and it goes when the node is moved or deleted. A
//! change needs the tokens of the locks that cover it, submitted by the account that made them: [`guard`] decides it
//! inside the commit. A lock that has expired is as if it weren't there.

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

pub(crate) use guard::{Touched, check, guards, look, refusal, remove_with};

use std::time::Duration;

/// The longest that a lock stays without being refreshed: who asks for more, or for ever, gets this. A client that
/// died holds up the others no longer.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What who doesn't ask gets.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The most locks of a space at a time: a guard may have to walk up from each.
pub const MAX_LOCKS: u64 = 1000;

/// The longest description of an owner, as XML.
pub const MAX_OWNER_BYTES: usize = 4096;

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
