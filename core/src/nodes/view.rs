//! What was read of the tree: the nodes that operations speak of and all that are above them.

use std::collections::HashMap;

use crate::error::Result;
use crate::path::MAX_DEPTH;
use crate::ports::{Row, Timestamp};
use crate::trash::is_hidden;
use crate::tree::folder_etag;

/// A node as it was read, or as operations have left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The integer key; a copy has none yet.
    pub(super) key: Option<u64>,
    pub(super) parent: String,
    pub(super) name: String,
    pub(super) nfc: String,
    pub(super) is_folder: bool,
    pub(super) trashed_at: Option<Timestamp>,
    pub(super) trashed_from: Option<String>,
    pub(super) version: Option<String>,
    /// Of a folder: the number of the last commit that changed it or anything below it.
    pub(super) changed_seq: u64,
    pub(super) etag: String,
    pub(super) modified_at: Timestamp,
}

impl Entry {
    fn read(row: &Row) -> Result<Self> {
        let (id, changed_seq) = (row.text("id")?, row.unsigned("changed_seq")?);
        let text = |column| -> Result<Option<String>> { Ok(row.text_or_null(column)?.map(str::to_owned)) };
        Ok(Self {
            key: Some(row.unsigned("n")?),
            parent: row.text("parent_id")?.to_owned(),
            name: row.text("name")?.to_owned(),
            nfc: row.text("name_nfc")?.to_owned(),
            is_folder: row.text("kind")? == "folder",
            trashed_at: row.integer_or_null("trashed_at")?.map(Timestamp),
            trashed_from: text("trashed_from")?,
            version: text("version_id")?,
            etag: text("etag")?.unwrap_or_else(|| folder_etag(id, changed_seq)),
            changed_seq,
            modified_at: Timestamp(row.integer("modified_at")?),
        })
    }

    /// Whether it is a space's root.
    pub(super) fn is_root(&self) -> bool {
        self.parent.is_empty() && self.trashed_at.is_none()
    }
}

/// Nodes by id, with all above each.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    entries: HashMap<String, Entry>,
}

/// Where the way up from a node ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// At the living root, from this far below it.
    Lives { depth: usize },
    /// At this node, which is in the trash or gone for good.
    Gone { at: String },
}

impl View {
    pub(super) fn read(rows: &[Row]) -> Result<Self> {
        let entries = rows
            .iter()
            .map(|row| Ok((row.text("id")?.to_owned(), Entry::read(row)?)))
            .collect::<Result<_>>()?;
        Ok(Self { entries })
    }

    pub(super) fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.get(id)
    }

    pub(super) fn put(&mut self, id: &str, entry: Entry) {
        self.entries.insert(id.to_owned(), entry);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Entry)> {
        self.entries.iter()
    }

    /// Walks up from a node.
    pub(super) fn way(&self, id: &str) -> Way {
        let mut at = id;
        // A little further than any path is deep: what was read is a tree, but decides nothing alone.
        for depth in 0..=2 * MAX_DEPTH {
            match self.entries.get(at) {
                Some(entry) if entry.is_root() => return Way::Lives { depth },
                Some(entry) if entry.trashed_at.is_none() && !is_hidden(&entry.parent) => at = &entry.parent,
                _ => break,
            }
        }
        Way::Gone { at: at.to_owned() }
    }

    /// Whether `id` is `top`, or below it, or was before it or what it was in was deleted.
    pub(super) fn came_from(&self, id: &str, top: &str) -> bool {
        let mut at = id;
        // Deletions may lie within one another, and each has a path's depth.
        for _ in 0..=self.entries.len() {
            if at == top {
                return true;
            }
            match self.entries.get(at) {
                Some(entry) => at = entry.trashed_from.as_ref().unwrap_or(&entry.parent),
                None => break,
            }
        }
        false
    }

    /// Whether `id` is `top`, or below it.
    pub(super) fn is_within(&self, id: &str, top: &str) -> bool {
        let mut at = id;
        for _ in 0..=2 * MAX_DEPTH {
            if at == top {
                return true;
            }
            match self.entries.get(at) {
                Some(entry) => at = &entry.parent,
                None => break,
            }
        }
        false
    }
}
