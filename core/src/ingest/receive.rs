//! Receives a body: a buffer fills while the one before it is stored.

use std::collections::BTreeMap;

use super::digests::Verifier;
use super::store::{Store, chunk_etag};
use super::{Expected, INLINE_BYTES, Ingest, NewChunk, NewSegment, Permit};
use crate::chunk;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::manifest::Extents;
use crate::ports::{Platform, Upload};

/// A segment's size at most. One bucket request each; larger ones would not fit an isolate's memory twice per upload.
pub(super) const BUFFER_BYTES: usize = 8 * 1024 * 1024;

/// What has arrived, stored but referred to by nothing yet.
#[derive(Debug)]
pub(crate) struct Received {
    /// The size.
    pub(crate) size_bytes: u64,
    /// The entity tag, without quotes.
    pub(crate) etag: String,
    /// The CRC-32 of the whole.
    pub(crate) crc32: u32,
    /// Digests of the whole that were sent along, verified, base64 by algorithm.
    pub(crate) digests: BTreeMap<String, String>,
    /// Where the bytes are.
    pub(crate) content: Content,
}

impl Received {
    /// An empty body.
    pub(crate) fn nothing() -> Self {
        Self {
            size_bytes: 0,
            etag: inline_etag(&[]),
            crc32: 0,
            digests: BTreeMap::new(),
            content: Content::Inline(Vec::new()),
        }
    }
}

/// Where the bytes are.
#[derive(Debug)]
pub(crate) enum Content {
    /// Here, for the row.
    Inline(Vec<u8>),
    /// In the bucket.
    Stored {
        /// The ranges that make up the content.
        extents: Extents,
        /// Segments that this upload put.
        segments: Vec<NewSegment>,
        /// Chunks that were not known.
        chunks: Vec<NewChunk>,
        /// Older segments that extents refer to.
        reused: Vec<u64>,
    },
}

/// A body and what its sender says of it.
pub(crate) struct Body<U> {
    /// The bytes.
    pub(crate) upload: U,
    /// Its `Content-Length`.
    pub(crate) length: Option<u64>,
    /// Digests that it must have.
    pub(crate) expected: Vec<Expected>,
}

/// Where a body may go.
pub(crate) struct Room<'a> {
    /// The space's integer key.
    pub(crate) space_key: i64,
    /// The ingest that owns the segments; without one only what fits a row is accepted.
    pub(crate) ingest: Option<&'a Ingest>,
    /// Memory.
    pub(crate) permit: &'a Permit,
}

/// Receives a body to its end.
pub(crate) async fn receive<P: Platform, U: Upload>(
    platform: &P,
    room: Room<'_>,
    body: Body<U>,
) -> Result<Received> {
    let Body { upload, length, expected } = body;
    let Room { space_key, ingest, permit } = room;
    let mut source = Source { upload, verifier: Verifier::new(expected), size_bytes: 0, ended: false };
    let mut filling = Vec::new();
    source.fill(&mut filling, INLINE_BYTES + 1).await?;
    if source.ended && filling.len() <= INLINE_BYTES {
        return Ok(Received {
            size_bytes: source.size_bytes,
            etag: inline_etag(&filling),
            crc32: crc32fast::hash(&filling),
            digests: source.verifier.finish()?,
            content: Content::Inline(filling),
        });
    }
    let ingest =
        ingest.ok_or_else(|| Error::invalid("Content-Length", "the body is longer than announced"))?;
    let capacity =
        length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX).min(BUFFER_BYTES);
    filling.reserve_exact(capacity.saturating_sub(filling.len()));
    source.fill(&mut filling, BUFFER_BYTES).await?;

    let mut store = Store::new(platform, space_key, ingest);
    let mut next = Vec::new();
    loop {
        let chunks = chunk::cuts(&filling, source.ended);
        let end = chunks.last().map_or(0, |last| last.end);
        if source.ended {
            store.put(&mut filling, &chunks).await?;
            break;
        }
        if permit.has_two_buffers() {
            next.clear();
            next.reserve_exact(BUFFER_BYTES);
            next.extend_from_slice(filling.get(end..).unwrap_or_default());
            // Both to their ends, even where one fails: a put that is still under way would store a segment behind the
            // back of whoever cleans up.
            let (stored, filled) =
                futures::join!(store.put(&mut filling, &chunks), source.fill(&mut next, BUFFER_BYTES));
            stored?;
            filled?;
            std::mem::swap(&mut filling, &mut next);
        } else {
            store.put(&mut filling, &chunks).await?;
            filling.drain(..end);
            source.fill(&mut filling, BUFFER_BYTES).await?;
        }
    }
    let digests = source.verifier.finish()?;
    Ok(store.finish(source.size_bytes, digests))
}

/// The entity tag of content that is kept in a row: one chunk, or none.
fn inline_etag(content: &[u8]) -> String {
    let hashed = Sha256::of(content);
    let chunks = (!content.is_empty()).then_some((hashed, content.len() as u64));
    chunk_etag(chunks)
}

/// The body, with what is learnt from it in passing.
struct Source<U> {
    upload: U,
    verifier: Verifier,
    size_bytes: u64,
    ended: bool,
}

impl<U: Upload> Source<U> {
    /// Fills `buffer` to `size` bytes, or to the end of the body.
    async fn fill(&mut self, buffer: &mut Vec<u8>, size: usize) -> Result<()> {
        while !self.ended && buffer.len() < size {
            let before = buffer.len();
            let count = self.upload.read(buffer, size - before).await?;
            self.ended = count == 0;
            self.size_bytes += count as u64;
            self.verifier.update(buffer.get(before..).unwrap_or_default());
        }
        Ok(())
    }
}
