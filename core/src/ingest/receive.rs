//! Receives a body that becomes a content of its own.

use std::collections::BTreeMap;

use super::digests::Verifier;
use super::store::{Store, chunk_etag};
use super::stream::{NothingOld, Sources, stream};
use super::{Door, Expected, INLINE_BYTES, NewChunk, NewSegment, Permit};
use crate::chunk::Rechunk;
use crate::digest::Sha256;
use crate::error::Result;
use crate::manifest::Extents;
use crate::ports::{Platform, Upload, UploadError};

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
    pub(crate) door: &'a mut Door,
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
    let Room { space_key, door, permit } = room;
    let mut source = Source::new(upload, expected);
    let mut first = Vec::new();
    while first.len() <= INLINE_BYTES {
        let room = INLINE_BYTES + 1 - first.len();
        if source.read(&mut first, room).await? == 0 {
            break;
        }
    }
    if first.len() <= INLINE_BYTES {
        return Ok(Received {
            size_bytes: source.size_bytes(),
            etag: inline_etag(&first),
            crc32: crc32fast::hash(&first),
            digests: source.finish()?,
            content: Content::Inline(first),
        });
    }
    let mut store = Store::new(platform, space_key, door);
    // All of it is new: cut as an edit of nothing.
    let mut rechunk = Rechunk::new(&[], 0..0);
    let mut new = Chain { before: &first, upload: &mut source, after: &[] };
    let sources = Sources { new: &mut new, old: &NothingOld, expected_bytes: length };
    stream(&mut store, &mut rechunk, sources, permit).await?;
    let content = store.take();
    let (segments, chunks) = store.stored();
    Ok(Received {
        size_bytes: content.size_bytes,
        etag: content.etag(),
        crc32: content.crc32,
        content: Content::Stored {
            segments: segments.to_vec(),
            chunks: chunks.to_vec(),
            extents: content.extents,
        },
        digests: source.finish()?,
    })
}

/// The entity tag of content that is kept in a row: one chunk, or none.
pub(crate) fn inline_etag(content: &[u8]) -> String {
    let hashed = Sha256::of(content);
    let chunks = (!content.is_empty()).then_some((hashed, content.len() as u64));
    chunk_etag(chunks)
}

/// A body, with what is learnt from it in passing.
pub(crate) struct Source<U> {
    upload: U,
    verifier: Verifier,
    size_bytes: u64,
    ended: bool,
}

impl<U: Upload> Source<U> {
    /// A body that must have these digests.
    pub(crate) fn new(upload: U, expected: Vec<Expected>) -> Self {
        Self { upload, verifier: Verifier::new(expected), size_bytes: 0, ended: false }
    }

    /// How much has come.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The verified digests, base64 by name.
    pub(crate) fn finish(self) -> Result<BTreeMap<String, String>> {
        self.verifier.finish()
    }
}

impl<U: Upload> Upload for Source<U> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        if self.ended {
            return Ok(0);
        }
        let before = into.len();
        let count = self.upload.read(into, at_most).await?;
        self.ended = count == 0;
        self.size_bytes += count as u64;
        self.verifier.update(into.get(before..).unwrap_or_default());
        Ok(count)
    }
}

/// A body between bytes that are known.
pub(crate) struct Chain<'a, U> {
    /// What comes before it.
    pub(crate) before: &'a [u8],
    /// The body.
    pub(crate) upload: &'a mut U,
    /// What comes behind it.
    pub(crate) after: &'a [u8],
}

impl<U: Upload> Upload for Chain<'_, U> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        if !self.before.is_empty() {
            return self.before.read(into, at_most).await;
        }
        match self.upload.read(into, at_most).await? {
            0 => self.after.read(into, at_most).await,
            count => Ok(count),
        }
    }
}
