//! Uploads in parts: a file that arrives in several requests, over a bad network or through a proxy that limits bodies.
//!
//! An upload's row says where to, on which conditions, and how much has arrived. What has arrived is a *draft*: a blob
//! that no version has, whose pages count as any other's, so nothing of it is swept; and a tail that is too short for a
//! segment, in the row. Each part makes a new draft that shares the pages of the old one. The last one's commit is that of
//! a save: a version takes the content, with the guards of a save, and the row only remembers for a while what came of it,
//! so that a client whose answer was lost can ask.
//!
//! What an upload may still become is reserved of the quota: its length where that was said, else what has arrived.

mod abandon;
mod append;
mod create;
mod draft;
mod expire;
mod finish;
mod folder;
mod incoming;
mod join;
mod look;
mod remove_part;
mod row;

pub use abandon::abandon;
pub use append::{Append, Appended, append};
pub use create::{Create, create};
pub use expire::expire;
pub use folder::{NewFolder, Part, PutPart, StoredPart, folders, make_folder, parts, put_part};
pub use join::{Join, join, join_folder};
pub use look::look;
pub use remove_part::remove_part;

use serde::{Deserialize, Serialize};

use crate::conditions::Conditions;
use crate::error::{Error, Result};
use crate::ids::{NodeId, SpaceId, UploadId, VersionId};
use crate::path::{Name, Path};
use crate::ports::Timestamp;
use crate::token::Token;
use crate::tree::Address;

/// The longest upload: as much as an upload in one piece.
pub const MAX_LENGTH_BYTES: u64 = 1 << 43;
/// The most uploads that an account may have open.
pub const MAX_OPEN: u64 = 1000;
/// The most parts that are joined: Nextcloud's limit.
pub const MAX_PARTS: usize = 10_000;
/// The longest metadata that a client may give its upload.
pub const MAX_METADATA_BYTES: usize = 8 * 1024;
/// How long the row of a finished upload tells what became of it.
const REMEMBERED_SECS: i64 = 60 * 60;

/// What an upload is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A part of one; several are joined.
    Part,
    /// A file, of parts that a WebDAV client puts into a folder.
    Folder,
}

impl Kind {
    /// As the column has it.
    fn column(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Part => "part",
            Self::Folder => "folder",
        }
    }

    /// Reads the column.
    fn read(column: &str) -> Self {
        match column {
            "part" => Self::Part,
            "folder" => Self::Folder,
            _ => Self::File,
        }
    }
}

/// Where an upload goes when it is finished, and on which conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    base: Option<String>,
    names: Vec<String>,
    /// The conditions on what is there.
    pub conditions: Conditions,
    /// The media type.
    pub media_type: String,
    modified_at: Option<i64>,
}

impl Target {
    /// What a save to the address would be.
    pub fn new(
        address: &Address,
        conditions: Conditions,
        media_type: String,
        modified_at: Option<Timestamp>,
    ) -> Self {
        Self {
            base: address.base.as_ref().map(ToString::to_string),
            names: address.path.names().iter().map(|name| name.as_str().to_owned()).collect(),
            conditions,
            media_type,
            modified_at: modified_at.map(|time| time.0),
        }
    }

    /// The address, for who asks with this token.
    fn address(&self, token: &Token, space: &SpaceId) -> Result<Address> {
        let broken = || Error::Internal("an upload's target is malformed".to_owned());
        let base = self.base.as_deref().map(|id| NodeId::parse(id).ok_or_else(broken)).transpose()?;
        let path = Path::parse(&self.names).map_err(|_| broken())?;
        Ok(Address { token: token.clone(), space: space.clone(), base, path })
    }

    /// The modification time that the file is to have, where one was given.
    pub fn modified_at(&self) -> Option<Timestamp> {
        self.modified_at.map(Timestamp)
    }

    /// The names that lead to it, as they were sent.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// What a finished upload has become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// Whether there was no such file before.
    pub created: bool,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// Its size.
    pub size_bytes: u64,
    node: String,
    version: String,
    modified_at: i64,
    /// Whether it is a part that was joined with others, and not itself a file.
    #[serde(default)]
    pub joined: bool,
}

impl Finished {
    /// The file's node.
    pub fn node(&self) -> Option<NodeId> {
        NodeId::parse(&self.node)
    }

    /// The version.
    pub fn version(&self) -> Option<VersionId> {
        VersionId::parse(&self.version)
    }

    /// Its modification time.
    pub fn modified_at(&self) -> Timestamp {
        Timestamp(self.modified_at)
    }
}

/// An upload, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its id.
    pub id: UploadId,
    /// What it is to become.
    pub kind: Kind,
    /// The space.
    pub space: SpaceId,
    /// Where to; None for a part, and for a folder until it is joined.
    pub target: Option<Target>,
    /// What the client said of it.
    pub metadata: String,
    /// How long it will be; None where that isn't known yet.
    pub length_bytes: Option<u64>,
    /// How much has arrived.
    pub received_bytes: u64,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it goes, unless more arrives before.
    pub expires_at: Timestamp,
    /// What it has become.
    pub finished: Option<Finished>,
}

/// What a WebDAV client may call a folder of parts, or a part.
///
/// # Errors
/// [`Error::Invalid`] where it is longer than 255 bytes, or no name.
pub fn name(text: &str) -> Result<String> {
    Name::parse(text).map(|name| name.as_str().to_owned())
}
