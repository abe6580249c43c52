//! `/api/v1/spaces/{space}/versions/{path}`: the history of a file.

mod delete;
mod list;
mod patch;
mod post;

pub(crate) use delete::delete;
pub(crate) use list::list;
pub(crate) use patch::patch;
pub(crate) use post::post;

use ledge_core::error::{Error, Result};
use ledge_core::ids::VersionId;
use ledge_core::versions::Entry;
use serde::Serialize;
use utoipa::ToSchema;

use super::query::Query;
use crate::headers::{quoted, rfc3339};
use crate::openapi::words::Time;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, post::post, patch::patch, delete::delete))]
pub(crate) struct Documented;

/// A version, as lists show it.
#[derive(Serialize, ToSchema)]
struct Version {
    id: String,
    current: bool,
    #[schema(required)]
    label: Option<String>,
    size_bytes: u64,
    etag: String,
    media_type: String,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(value_type = Time)]
    modified_at: String,
    author_id: String,
}

impl From<Entry> for Version {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id.to_string(),
            current: entry.current,
            label: entry.label,
            size_bytes: entry.size_bytes,
            etag: quoted(&entry.etag),
            media_type: entry.media_type,
            created_at: rfc3339(entry.created_at),
            modified_at: rfc3339(entry.modified_at),
            author_id: entry.author.to_string(),
        }
    }
}

/// The version that the query names.
fn named(query: &Query<'_>) -> Result<VersionId> {
    query
        .get("version")
        .and_then(VersionId::parse)
        .ok_or_else(|| Error::invalid("version", "expected a version's id"))
}
