//! What WebDAV shows of a node: the facts that every node has, and dead properties, which clients set and we only keep.

mod patch;
mod read;

pub use patch::{Change, MAX_PROPERTIES, MAX_PROPERTIES_BYTES, Patch, Patched, patch};
pub use read::{Listing, Next, Page, Read, Root, read, read_on};

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ids::NodeId;
use crate::locks::Lock;
use crate::ports::{Row, Timestamp};

/// A node and its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its id.
    pub id: NodeId,
    /// Its name, as it was sent; of a space's root, the space's.
    pub name: String,
    /// When it came into being.
    pub created_at: Timestamp,
    /// When its content, or a folder's list of children, changed.
    pub modified_at: Timestamp,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// Its content; None for a folder.
    pub file: Option<Facts>,
    /// Its dead properties, where they were asked for.
    pub dead: Vec<Dead>,
    /// Locks that cover it, where they were asked for.
    pub locks: Vec<Lock>,
}

/// A file's content, from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The size.
    pub size_bytes: u64,
    /// The media type.
    pub media_type: String,
    /// Digests that were verified at upload, base64 by algorithm.
    pub digests: BTreeMap<String, String>,
}

/// A dead property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dead {
    /// The namespace; empty for none.
    pub namespace: String,
    /// The name in it.
    pub name: String,
    /// The whole element as XML that needs no declarations around it.
    pub xml: String,
}

impl Dead {
    fn read(row: &Row) -> Result<Self> {
        let text = |column| -> Result<String> { Ok(row.text(column)?.to_owned()) };
        Ok(Self { namespace: text("namespace")?, name: text("name")?, xml: text("xml")? })
    }

    /// What it counts against the limit of a node.
    fn len(&self) -> usize {
        self.namespace.len() + self.name.len() + self.xml.len()
    }
}
