//! Packs: chunks in one body, each behind its length and hash.
//!
//! ```text
//! pack  = 1*1024( chunk )                   at most 32 MiB in all
//! chunk = length hash content
//!         length   4 bytes, big-endian: 1 to 4,194,304
//!         hash     32 bytes: the SHA-256 of the content
//!         content  that many bytes
//! ```
//!
//! The pack ends where the body ends, which must be at the end of a chunk. docs/STORAGE.md fixes the format.

use std::ops::Range;

use crate::chunk::MAX_BYTES;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::ports::Upload;

/// What a pack is in `Content-Type`.
pub const PACK_TYPE: &str = "application/vnd.ledge.pack";

/// The longest pack: four segments' worth, far below what proxies let pass, and soon sent again.
pub const MAX_PACK_BYTES: u64 = 32 * 1024 * 1024;

/// The most chunks of a pack: 32 KiB each in a full one, an eighth of what our own cuts make at least. Each costs a row.
pub const MAX_PACK_CHUNKS: usize = 1024;

/// A chunk's length and hash.
pub const HEADER_BYTES: usize = 4 + 32;

/// What stands before a chunk in a pack. `length` is 1 to [`MAX_BYTES`].
pub fn header(hash: Sha256, length: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let (first, second) = header.split_at_mut(4);
    first.copy_from_slice(&length.to_be_bytes());
    second.copy_from_slice(&hash.0);
    header
}

/// A chunk that was read, and the hash that its sender says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claimed {
    /// Where it is in the buffer.
    pub(crate) range: Range<usize>,
    /// Not verified yet.
    pub(crate) hash: Sha256,
    /// Its place in the pack, from 0, for errors.
    pub(crate) number: usize,
}

/// Reads a pack as it comes.
#[derive(Debug)]
pub(crate) struct Pack<U> {
    upload: U,
    read_bytes: u64,
    number: usize,
    /// The header of a chunk for which there was no room.
    next: Option<(Sha256, usize)>,
    ended: bool,
}

impl<U: Upload> Pack<U> {
    pub(crate) fn new(upload: U) -> Self {
        Self { upload, read_bytes: 0, number: 0, next: None, ended: false }
    }

    /// Whether all of it has been read.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Empties `buffer`, and fills it with the content of as many chunks as fit `size`, which is [`MAX_BYTES`] at least.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the body isn't a pack, [`Error::BodyTooLarge`] where it is too long.
    pub(crate) async fn fill(&mut self, buffer: &mut Vec<u8>, size: usize) -> Result<Vec<Claimed>> {
        let mut chunks = Vec::new();
        buffer.clear();
        while !self.ended {
            let Some((hash, length)) = self.header().await? else { break };
            if buffer.len() + length > size {
                self.next = Some((hash, length));
                break;
            }
            let start = buffer.len();
            if self.read(buffer, length).await? < length {
                return Err(self.invalid("the body ends before the chunk does"));
            }
            chunks.push(Claimed { range: start..buffer.len(), hash, number: self.number });
            self.number += 1;
        }
        Ok(chunks)
    }

    /// The next chunk's header; None at the end.
    async fn header(&mut self) -> Result<Option<(Sha256, usize)>> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        let mut header = Vec::with_capacity(HEADER_BYTES);
        let count = self.read(&mut header, HEADER_BYTES).await?;
        if count == 0 {
            self.ended = true;
            return if self.number == 0 {
                Err(Error::invalid("body", "there is no chunk in it"))
            } else {
                Ok(None)
            };
        }
        let split = header.split_first_chunk::<4>();
        let parts = split.and_then(|(length, hash)| Some((length, <[u8; 32]>::try_from(hash).ok()?)));
        let Some((length, hash)) = parts else {
            return Err(self.invalid("the body ends within its length and hash"));
        };
        if self.number >= MAX_PACK_CHUNKS {
            let reason = format!("a pack has at most {MAX_PACK_CHUNKS} chunks");
            return Err(Error::invalid("body", reason));
        }
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if !(1..=MAX_BYTES).contains(&length) {
            return Err(self.invalid(&format!("its length is {length}, and may be 1 to {MAX_BYTES}")));
        }
        Ok(Some((Sha256(hash), length)))
    }

    /// Reads so many bytes, or fewer where the body ends.
    async fn read(&mut self, into: &mut Vec<u8>, wanted: usize) -> Result<usize> {
        let mut read = 0;
        while read < wanted {
            let count = self.upload.read(into, wanted - read).await?;
            if count == 0 {
                break;
            }
            read += count;
            self.read_bytes += count as u64;
            if self.read_bytes > MAX_PACK_BYTES {
                return Err(Error::BodyTooLarge { limit_bytes: MAX_PACK_BYTES });
            }
        }
        Ok(read)
    }

    fn invalid(&self, reason: &str) -> Error {
        Error::invalid("body", format!("chunk {} of the pack: {reason}", self.number))
    }
}

#[cfg(test)]
mod tests;
