//! What a client announces: segments, and the chunks that they consist of.

use serde::{Deserialize, Serialize};

use crate::chunk::MAX_BYTES;
use crate::delta::Chunk;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::ingest::BUFFER_BYTES;

/// The most segments at once.
pub const MAX_SEGMENTS: usize = 64;

/// The largest segment: as large as those that the drive makes, since a job reads it in one piece.
pub const MAX_SEGMENT_BYTES: u64 = BUFFER_BYTES as u64;

/// The most chunks of all segments together: each costs a row, in one commit.
pub const MAX_CHUNKS: usize = 2048;

/// A segment that a client will put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The SHA-256 of the whole: the bucket refuses anything else.
    pub sha256: Sha256,
    /// What it consists of, in order and without gaps.
    pub chunks: Vec<Chunk>,
}

/// How a row keeps it.
#[derive(Serialize, Deserialize)]
struct Kept(String, Vec<(String, u32)>);

impl Part {
    pub(super) fn size_bytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.length)).sum()
    }

    pub(super) fn to_row(parts: &[Self]) -> impl Serialize {
        let chunks = |part: &Self| {
            part.chunks.iter().map(|chunk| (chunk.hash.to_string(), chunk.length)).collect::<Vec<_>>()
        };
        parts.iter().map(|part| Kept(part.sha256.to_string(), chunks(part))).collect::<Vec<_>>()
    }

    pub(super) fn from_row(text: &str) -> Result<Vec<Self>> {
        let hash = |text: &str| {
            text.parse().map_err(|_| Error::Internal(format!("a hash of a direct upload: {text:?}")))
        };
        let read = |Kept(sha256, chunks): Kept| {
            let chunks = chunks.iter().map(|(text, length)| Ok(Chunk { hash: hash(text)?, length: *length }));
            Ok(Self { sha256: hash(&sha256)?, chunks: chunks.collect::<Result<_>>()? })
        };
        crate::manifest::from_json::<Vec<Kept>>(text)?.into_iter().map(read).collect()
    }
}

/// The size of all segments.
///
/// # Errors
/// [`Error::Invalid`] for what may not be.
pub(super) fn check(parts: &[Part]) -> Result<u64> {
    let invalid = |reason: String| Err(Error::invalid("segments", reason));
    if !(1..=MAX_SEGMENTS).contains(&parts.len()) {
        return invalid(format!("expected 1 to {MAX_SEGMENTS}"));
    }
    if parts.iter().map(|part| part.chunks.len()).sum::<usize>() > MAX_CHUNKS {
        return invalid(format!("all together have at most {MAX_CHUNKS} chunks"));
    }
    for (number, part) in parts.iter().enumerate() {
        if part.chunks.iter().any(|chunk| chunk.length == 0 || chunk.length as usize > MAX_BYTES) {
            return invalid(format!("segment {number}: the length of a chunk may be 1 to {MAX_BYTES}"));
        }
        if !(1..=MAX_SEGMENT_BYTES).contains(&part.size_bytes()) {
            return invalid(format!("segment {number} may have 1 to {MAX_SEGMENT_BYTES} bytes"));
        }
    }
    Ok(parts.iter().map(Part::size_bytes).sum())
}
