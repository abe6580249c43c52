//! The tree: nodes, and how a path leads to one.

mod entry;
mod resolve;

pub(crate) use entry::entry_columns;
pub use entry::{Entry, FileEntry};
pub use resolve::{Resolved, resolve};
pub(crate) use resolve::{deepest, id, version, walk};

use std::collections::BTreeMap;

use crate::ids::{BlobId, NodeId, SpaceId, VersionId};
use crate::path::Path;
use crate::ports::Timestamp;
use crate::token::Token;

macro_rules! parent_lives {
    ($depth:literal) => {
        concat!(
            "exists (
    with recursive up (id, parent_id, depth) as (
      select id, parent_id, 1 from nodes where id = ?4 and kind = 'folder' and trashed_at is null
      union all
      select n.id, n.parent_id, u.depth + 1
        from up u cross join nodes n where n.id = u.parent_id and n.trashed_at is null
    )
    select 1 from up u cross join spaces s on s.root_id = u.id where s.id = ?2 and u.depth <= ",
            $depth,
            ")"
        )
    };
}

/// A condition in SQL: the node ?4 is a folder from which living folders lead up to the root of the space ?2,
/// few enough for one more name ([`crate::path::MAX_DEPTH`]: a move may have pushed it down).
pub(crate) const PARENT_LIVES: &str = parent_lives!("128");

/// The same for ?5 more names, one below the other.
pub(crate) const PARENT_LIVES_FOR_MORE: &str = parent_lives!("129 - ?5");

/// A condition in SQL: living folders lead up from the node ?4, which lives itself, to the root of the space ?2.
pub(crate) const LIVES: &str = "exists (
    with recursive up (id, parent_id) as (
      select id, parent_id from nodes where id = ?4 and trashed_at is null
      union all
      select n.id, n.parent_id from up u cross join nodes n where n.id = u.parent_id and n.trashed_at is null
    )
    select 1 from up u cross join spaces s on s.root_id = u.id where s.id = ?2)";

/// Whose request, and what it is about.
#[derive(Debug, Clone)]
pub struct Address {
    /// The caller's token.
    pub token: Token,
    /// The space.
    pub space: SpaceId,
    /// The folder in it where the path begins; None for the space's root.
    pub base: Option<NodeId>,
    /// The path.
    pub path: Path,
}

impl Address {
    /// What the SQL walk takes.
    pub(crate) fn way(&self) -> String {
        let names = self.path.names().iter().map(crate::path::Name::nfc);
        serde_json::json!({ "base": self.base.as_ref().map(NodeId::as_str), "names": names.collect::<Vec<_>>() })
            .to_string()
    }
}

/// A file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// When it came into being.
    pub created_at: Timestamp,
    /// When its content, or a folder's list of children, changed.
    pub modified_at: Timestamp,
    /// Of a folder: the number of the space's last commit that changed it or anything below it.
    pub changed_seq: u64,
    /// What it is.
    pub kind: Kind,
}

impl Node {
    /// Its entity tag, without quotes: a file's is its content's, a folder's changes with it and with everything below.
    pub fn etag(&self) -> String {
        match &self.kind {
            Kind::Folder => folder_etag(self.id.as_str(), self.changed_seq),
            Kind::File(version) => version.blob.etag.clone(),
        }
    }
}

/// A folder's entity tag, without quotes. Commits run one after another: no two states have the same number.
pub(crate) fn folder_etag(id: &str, changed_seq: u64) -> String {
    format!("{id}-{changed_seq}")
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file, in its current version.
    File(Version),
}

/// One saved state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its id.
    pub id: VersionId,
    /// The modification time, as the client gave it or as it was saved.
    pub modified_at: Timestamp,
    /// Its content.
    pub blob: Blob,
}

/// Immutable content, without its pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its id.
    pub id: BlobId,
    /// Its size.
    pub size_bytes: u64,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// Its media type.
    pub media_type: String,
    /// The CRC-32 of the whole; None: it was imported, and isn't known yet.
    pub crc32: Option<u32>,
    /// The content itself, where it is kept in the row.
    pub inline: Option<Vec<u8>>,
    /// Digests of the whole that were verified at upload, base64 by algorithm.
    pub digests: BTreeMap<String, String>,
}
