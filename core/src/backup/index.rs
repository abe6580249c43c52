//! The last object of a dump: what the others are. A dump without it isn't one.

use serde::{Deserialize, Serialize};

/// The form that this program writes, and the newest that it reads.
pub(crate) const FORMAT: u32 = 1;

/// The index, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The form of the dump.
    pub format: u32,
    /// The dump.
    pub backup: String,
    /// The migration whose tables it holds.
    pub schema_version: u32,
    /// The moment that it shows, in milliseconds since 1970.
    pub begun_at: i64,
    /// When it was complete.
    pub finished_at: i64,
    /// Its lines, without those that name a table.
    pub rows: u64,
    /// The parts, in their order.
    pub parts: Vec<Part>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its key in the bucket.
    pub key: String,
    /// Its size as stored.
    pub size_bytes: u64,
    /// Its SHA-256 as stored, hex.
    pub sha256: String,
    /// Its rows.
    pub rows: u64,
}

/// Names the table of the lines that follow, and their columns: a line of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The table.
    pub(crate) table: String,
    /// The columns.
    pub(crate) columns: Vec<String>,
    /// Whether the lines are what rows were that have changed while the dump ran. Some of them stand among the others,
    /// too, with the same columns: those that were dumped before they changed.
    #[serde(default)]
    pub(crate) changed: bool,
}

/// What the keys of a dump's objects begin with.
pub fn prefix(backup: &str) -> String {
    format!("{}{backup}/", super::META)
}

/// Where a dump's index is.
pub fn index_key(backup: &str) -> String {
    format!("{}index.json", prefix(backup))
}
