//! `/api/v1/tokens`: the account's tokens.

mod delete;
mod list;
mod post;

pub(crate) use delete::delete;
pub(crate) use list::list;
pub(crate) use post::post;

use ledge_core::token::Protocol;
use ledge_core::tokens::Entry;
use serde::Serialize;

use crate::headers::rfc3339;

/// A token, as lists show it: never with its secret, nor with a part of it.
#[derive(Serialize)]
struct Token {
    id: String,
    name: String,
    created_at: String,
    expires_at: Option<String>,
    space_id: Option<String>,
    folder_id: Option<String>,
    rights: &'static str,
    protocols: Vec<&'static str>,
    current: bool,
}

impl From<Entry> for Token {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id.to_string(),
            name: entry.name,
            created_at: rfc3339(entry.created_at),
            expires_at: entry.expires_at.map(rfc3339),
            space_id: entry.space.map(|id| id.to_string()),
            folder_id: entry.folder.map(|id| id.to_string()),
            rights: if entry.writes { "write" } else { "read" },
            protocols: entry.protocols.list().iter().copied().map(Protocol::name).collect(),
            current: entry.current,
        }
    }
}
