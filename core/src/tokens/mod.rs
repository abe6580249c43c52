//! Tokens as their owner sees them: made, listed, revoked. What they allow is decided in [`crate::auth`] alone.
//!
//! A token sees, makes and revokes only what may do no more than itself. What only reads makes and revokes nothing;
//! any token may revoke itself.

mod create;
mod list;
mod revoke;

pub use create::{Create, Created, create};
pub use list::{Page, list};
pub use revoke::revoke;

use crate::ids::{NodeId, SpaceId, TokenId};
use crate::ports::Timestamp;
use crate::token::Protocol;

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: TokenId,
    /// What its owner calls it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends; None for never.
    pub expires_at: Option<Timestamp>,
    /// The one space that it reaches; None for all of the account's.
    pub space: Option<SpaceId>,
    /// The folder in that space that it reaches, with what is below; None for the whole space.
    pub folder: Option<NodeId>,
    /// Whether it may change things, as far as the account's role in the space allows.
    pub writes: bool,
    /// How it may be used.
    pub protocols: Protocols,
    /// Whether it is the one that asks.
    pub current: bool,
}

/// By which protocols a token may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocols {
    /// All that there are.
    All,
    /// This one.
    Only(Protocol),
}

impl Protocols {
    /// As the column has it.
    fn column(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Only(protocol) => protocol.name(),
        }
    }

    /// Reads the column.
    fn read(column: &str) -> Self {
        match column {
            "rest" => Self::Only(Protocol::Rest),
            "webdav" => Self::Only(Protocol::WebDav),
            _ => Self::All,
        }
    }

    /// The protocols.
    pub fn list(self) -> &'static [Protocol] {
        match self {
            Self::All => &[Protocol::Rest, Protocol::WebDav],
            Self::Only(Protocol::Rest) => &[Protocol::Rest],
            Self::Only(Protocol::WebDav) => &[Protocol::WebDav],
        }
    }
}
