//! What has arrived of an upload: a blob that no version has, and what doesn't fill a segment yet.

use std::collections::HashMap;

use crate::blobs::{Layout, NewBlob, Stored as NewRows, joined_etag};
use crate::error::{Error, Result};
use crate::ids::BlobId;
use crate::ingest::{Chunked, Ingest, NewChunk, NewSegment};
use crate::manifest::edit::{self, Edit, Manifest, Spliced};
use crate::manifest::{Extent, PageRef, Parts, combine_crc32};

/// So many pages fit a row of 2 MB; with the smallest parts that are stored, the tail's, that is half a tebibyte.
const MAX_PAGES: usize = 40_000;

/// What has arrived.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) stored: Option<Stored>,
    /// What follows that.
    pub(super) tail: Vec<u8>,
}

/// A blob, with the extents of the pages at its ends.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) id: BlobId,
    pub(super) size_bytes: u64,
    pub(super) etag: String,
    pub(super) crc32: u32,
    pub(super) inline: Option<Vec<u8>>,
    pub(super) pages: Vec<PageRef>,
    pub(super) loaded: HashMap<u64, Vec<Extent>>,
}

/// What was put for it just now.
pub(super) struct Put<'a> {
    pub(super) content: Chunked,
    pub(super) ingest: Ingest,
    pub(super) segments: &'a [NewSegment],
    pub(super) chunks: &'a [NewChunk],
}

impl Draft {
    /// How much of it has its place in the bucket.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.stored.as_ref().map_or(0, |stored| stored.size_bytes)
    }

    /// The blob with what was put behind it. It shares all pages but the last. What came in one piece has the entity tag
    /// of a body in one piece.
    pub(super) fn grown(&self, put: Put<'_>) -> Result<NewBlob> {
        let Put { content, ingest, segments, chunks } = put;
        let nothing = (Vec::new(), HashMap::new());
        let (pages, loaded) =
            self.stored.as_ref().map_or((&nothing.0, &nothing.1), |stored| (&stored.pages, &stored.loaded));
        let end = self.stored_bytes();
        let old = Manifest { pages, size_bytes: end, loaded };
        let edit = match edit::splice(&old, end..end, content.extents.as_slice(), &Parts::default())? {
            Spliced::Done(edit) => edit,
            Spliced::Needs(_) => {
                return Err(Error::Internal("an addition at the end splits nothing".to_owned()));
            }
        };
        let etag = match &self.stored {
            None => content.etag(),
            Some(stored) => joined_etag([stored.etag.as_str(), &content.etag()].into_iter()),
        };
        let crc32 = self.stored.as_ref().map_or(0, |stored| stored.crc32);
        debug_assert_eq!(edit.crc32(), combine_crc32(crc32, content.crc32, content.size_bytes));
        paged(&edit, etag, ingest, segments, chunks)
    }
}

/// A blob that an edit has made.
pub(super) fn paged(
    edit: &Edit,
    etag: String,
    ingest: Ingest,
    segments: &[NewSegment],
    chunks: &[NewChunk],
) -> Result<NewBlob> {
    let mut n = 0;
    let paged = edit.paginate(|| {
        n += 1;
        ingest.nth_id(n - 1)
    });
    if paged.len() > MAX_PAGES {
        return Err(Error::invalid("body", "the parts are too many and too small: send larger ones"));
    }
    let pages = paged.iter().map(|(page, _)| *page).collect();
    let new = paged.iter().filter_map(|(page, extents)| Some((page.page, (*extents)?.to_vec()))).collect();
    Ok(NewBlob {
        size_bytes: edit.size_bytes(),
        etag,
        crc32: edit.crc32(),
        digests: std::collections::BTreeMap::new(),
        layout: Layout::Paged { pages, tail: Vec::new() },
        stored: NewRows { segments: segments.to_vec(), chunks: chunks.to_vec(), pages: new },
        // The upload's stamp, or its parts', guard those that stay.
        kept: Vec::new(),
        ingest: Some(ingest),
    })
}

impl Stored {
    /// The blob as it is known once its row is committed; `before` is what it has grown from.
    pub(super) fn committed(id: BlobId, blob: &NewBlob, before: Option<&Self>) -> Self {
        let (pages, inline) = match &blob.layout {
            Layout::Paged { pages, .. } => (pages.clone(), None),
            Layout::Inline(bytes) => (Vec::new(), Some(bytes.clone())),
        };
        let mut loaded: HashMap<u64, Vec<Extent>> = HashMap::from_iter(blob.stored.pages.iter().cloned());
        for page in pages.iter().rev().take(2) {
            if let Some(extents) = before.and_then(|before| before.loaded.get(&page.page)) {
                loaded.entry(page.page).or_insert_with(|| extents.clone());
            }
        }
        let (size_bytes, crc32, etag) = (blob.size_bytes, blob.crc32, blob.etag.clone());
        Self { id, size_bytes, etag, crc32, inline, pages, loaded }
    }
}
