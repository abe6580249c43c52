//! Content whose pages stay as they are, with another tail.

use super::{Base, Layout, NewBlob, etag};
use crate::ingest::{INLINE_BYTES, Store, inline_etag};
use crate::manifest::combine_crc32;
use crate::ports::Platform;

/// The pages of `base`, then `tail`. Without pages it is content in a row, as if it had been saved so: inline where it
/// is small enough.
pub(super) fn with_tail<P: Platform>(store: &Store<'_, P>, base: &Base, tail: Vec<u8>) -> NewBlob {
    let etag = if base.pages.is_empty() {
        inline_etag(&tail)
    } else if tail == base.tail {
        base.etag.clone()
    } else {
        etag::edited(&base.etag, base.paged_bytes(), base.size_bytes, "", &tail)
    };
    let length = tail.len() as u64;
    NewBlob {
        size_bytes: base.paged_bytes() + length,
        etag,
        crc32: combine_crc32(base.paged_crc32(), crc32fast::hash(&tail), length),
        layout: if base.pages.is_empty() && tail.len() <= INLINE_BYTES {
            Layout::Inline(tail)
        } else {
            Layout::Paged { pages: base.pages.clone(), tail }
        },
        ..NewBlob::of(store, Vec::new())
    }
}
