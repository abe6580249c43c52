//! A node as JSON, the same wherever nodes are shown with their place.

use ledge_core::tree;
use serde::Serialize;
use utoipa::ToSchema;

use crate::headers::{quoted, rfc3339};
use crate::openapi::words::{Kind, Time};

/// A file or a folder; a folder has no size, media type and version.
#[derive(Serialize, ToSchema)]
#[schema(as = Node)]
pub(in crate::rest) struct Entry {
    id: String,
    /// Empty for the top folder.
    name: String,
    #[schema(value_type = Kind)]
    kind: &'static str,
    /// Null for the top folder, and for the folder that the token is limited to.
    #[schema(required)]
    parent_id: Option<String>,
    #[schema(required)]
    size_bytes: Option<u64>,
    etag: String,
    #[schema(required)]
    media_type: Option<String>,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(value_type = Time)]
    modified_at: String,
    #[schema(required)]
    version_id: Option<String>,
}

impl From<tree::Entry> for Entry {
    fn from(entry: tree::Entry) -> Self {
        let (size_bytes, media_type, version_id) = match entry.file {
            Some(file) => (Some(file.size_bytes), Some(file.media_type), Some(file.version.to_string())),
            None => (None, None, None),
        };
        Self {
            id: entry.id.to_string(),
            name: entry.name,
            kind: if version_id.is_some() { "file" } else { "folder" },
            parent_id: entry.parent.map(|id| id.to_string()),
            size_bytes,
            etag: quoted(&entry.etag),
            media_type,
            created_at: rfc3339(entry.created_at),
            modified_at: rfc3339(entry.modified_at),
            version_id,
        }
    }
}
