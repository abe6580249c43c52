//! What an examination has found, for a person to act on.

use serde::{Deserialize, Serialize};

/// So many findings are named; all are counted.
const NAMED: usize = 100;

/// The report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Objects under `ledge/`.
    pub objects: u64,
    /// Their bytes.
    pub object_bytes: u64,
    /// Pages, and with them extents, that were looked at.
    pub pages: u64,
    /// Blobs that were looked at.
    pub blobs: u64,
    /// Nodes that were looked at.
    pub nodes: u64,
    /// Bytes of content that were read.
    pub content_bytes: u64,
    /// Each bucket, the default one first.
    #[serde(default)]
    pub buckets: Vec<BucketHealth>,
    /// What is wrong: a file can't be read, or a number isn't right.
    pub faults: u64,
    /// What costs space only.
    pub notes: u64,
    /// The first of both.
    pub findings: Vec<Finding>,
}

/// How a bucket is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketHealth {
    /// Its name in the configuration; `default` for the default one.
    pub name: String,
    /// Whether it can be listed and, if it is the default of a space, written, read and deleted from.
    pub works: bool,
    /// Whether segments may lie in it: it is the default one, or a space has chosen it some time.
    pub is_used: bool,
    /// What of that failed first; null: nothing.
    pub failure: Option<String>,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of thing.
    pub kind: Kind,
    /// What exactly.
    pub what: String,
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A segment's object isn't in the bucket.
    MissingObject,
    /// A segment's object has another size than its row says.
    WrongSize,
    /// An extent lies in no segment that is in use, or ends behind it.
    BrokenExtent,
    /// A blob's pages, tail or inline content don't make its size or its checksum.
    BrokenBlob,
    /// A file without its version, or a node without its folder.
    BrokenNode,
    /// A counter isn't what is counted.
    WrongCounter,
    /// Content has another checksum than is known of it.
    DamagedContent,
    /// An object was changed or removed since it was imported: the files that refer to it can't be read.
    ChangedSource,
    /// A bucket can't be used: what lies in it can't be read, or nothing can be stored.
    BrokenBucket,
    /// An object that no row knows. It costs space only.
    UnknownObject,
    /// Something wasn't looked at.
    NotChecked,
}

impl Kind {
    /// Whether it costs space only.
    pub fn is_note(self) -> bool {
        matches!(self, Self::UnknownObject | Self::NotChecked)
    }
}

impl Report {
    pub(super) fn add(&mut self, kind: Kind, what: impl Into<String>) {
        if kind.is_note() {
            self.notes += 1;
        } else {
            self.faults += 1;
        }
        if self.findings.len() < NAMED {
            self.findings.push(Finding { kind, what: what.into() });
        }
    }
}
