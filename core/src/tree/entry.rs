//! A node as lists of nodes show it, wherever it is.

use super::{folder_etag, id};
use crate::error::Result;
use crate::ids::{NodeId, VersionId};
use crate::ports::{Row, Timestamp};

/// A node and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: NodeId,
    /// Its name; empty for a root.
    pub name: String,
    /// The folder that it is in; None for a root, and for the folder that a token is limited to.
    pub parent: Option<NodeId>,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// When it came into being.
    pub created_at: Timestamp,
    /// When its content, or a folder's list of children, changed.
    pub modified_at: Timestamp,
    /// What a file has in its current version; None for a folder.
    pub file: Option<FileEntry>,
}

/// A file's current version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its id.
    pub version: VersionId,
    /// Its size.
    pub size_bytes: u64,
    /// Its media type.
    pub media_type: String,
}

/// The columns that [`Entry::read`] reads, of a node `n` and its blob `b`.
macro_rules! entry_columns {
    () => {
        "n.id, n.name, n.parent_id, n.kind, n.created_at, n.modified_at, n.changed_seq, n.version_id,
         b.size_bytes, b.etag, b.media_type"
    };
}
pub(crate) use entry_columns;

impl Entry {
    /// Reads a row.
    pub(crate) fn read(row: &Row) -> Result<Self> {
        let node = id(row, "id", NodeId::parse)?;
        let parent = NodeId::parse(row.text("parent_id")?);
        let file = match row.text("kind")? {
            "folder" => None,
            _ => Some(FileEntry {
                version: id(row, "version_id", VersionId::parse)?,
                size_bytes: row.unsigned("size_bytes")?,
                media_type: row.text("media_type")?.to_owned(),
            }),
        };
        let etag = match row.text_or_null("etag")? {
            Some(etag) => etag.to_owned(),
            None => folder_etag(node.as_str(), row.unsigned("changed_seq")?),
        };
        // The name of a root is the space's id.
        let name = if row.text("parent_id")?.is_empty() { "" } else { row.text("name")? };
        Ok(Self {
            id: node,
            name: name.to_owned(),
            parent,
            etag,
            created_at: Timestamp(row.integer("created_at")?),
            modified_at: Timestamp(row.integer("modified_at")?),
            file,
        })
    }
}
