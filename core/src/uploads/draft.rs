//! What has arrived of an upload: a blob that no version has, and what doesn't fill a segment yet.

use crate::blobs::Base;
use crate::ids::BlobId;

/// What has arrived.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) stored: Option<Stored>,
    /// What follows that.
    pub(super) tail: Vec<u8>,
}

/// A blob that has its row, with the extents of the pages at its ends.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) id: BlobId,
    pub(super) content: Base,
}

impl Draft {
    /// How much of it has its place in the bucket.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.stored.as_ref().map_or(0, |stored| stored.content.size_bytes)
    }
}
