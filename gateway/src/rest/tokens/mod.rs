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
use utoipa::ToSchema;

use crate::headers::rfc3339;
use crate::openapi::words::{self, Time};

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, post::post, delete::delete))]
pub(crate) struct Documented;

/// A token, as lists show it: never with its secret, nor with a part of it.
#[derive(Serialize, ToSchema)]
struct Token {
    id: String,
    name: String,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(required, value_type = Option<Time>)]
    expires_at: Option<String>,
    #[schema(required)]
    space_id: Option<String>,
    #[schema(required)]
    folder_id: Option<String>,
    #[schema(value_type = words::Rights)]
    rights: &'static str,
    #[schema(value_type = Vec<words::Protocol>)]
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
