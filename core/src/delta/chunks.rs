//! A list of chunks as a client sends it: limits, size, entity tag.

use crate::chunk::MAX_BYTES;
use crate::digest::Sha256;
use crate::error::{Error, Result};

/// The most chunks of a list: 32 GiB of our own cuts, in 2.5 MB of JSON. What is larger comes in parts.
pub const MAX_CHUNKS: usize = 32_768;

/// A list of more than [`SMALL_CHUNKS`] chunks has at least so many bytes for each further one. Each is a read from the
/// bucket when the file is read: a list of tiny ones would cost far more than its bytes do.
pub const MIN_AVERAGE_BYTES: u64 = 64 * 1024;

/// See [`MIN_AVERAGE_BYTES`].
pub const SMALL_CHUNKS: u64 = 1024;

/// A chunk of a list: what a client says that the content consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The SHA-256 of its bytes.
    pub hash: Sha256,
    /// How many there are: 1 to 4 MiB.
    pub length: u32,
}

/// The size of the content that the list stands for.
///
/// # Errors
/// [`Error::Invalid`] where it is longer than allowed, or has a chunk of a length that there isn't.
pub(super) fn size_bytes(chunks: &[Chunk]) -> Result<u64> {
    if chunks.len() > MAX_CHUNKS {
        let reason = format!("a list has at most {MAX_CHUNKS}: larger files come in parts");
        return Err(Error::invalid("chunks", reason));
    }
    let mut size_bytes = 0;
    for (number, chunk) in chunks.iter().enumerate() {
        if chunk.length == 0 || chunk.length as usize > MAX_BYTES {
            let reason =
                format!("the length of chunk {number} is {}, and may be 1 to {MAX_BYTES}", chunk.length);
            return Err(Error::invalid("chunks", reason));
        }
        size_bytes += u64::from(chunk.length);
    }
    if chunks.len() as u64 > SMALL_CHUNKS + size_bytes / MIN_AVERAGE_BYTES {
        let reason = format!("{} are too many for {size_bytes} bytes", chunks.len());
        return Err(Error::invalid("chunks", reason));
    }
    Ok(size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(count: usize, length: u32) -> Vec<Chunk> {
        vec![Chunk { hash: Sha256([7; 32]), length }; count]
    }

    #[test]
    fn lists_are_bounded() {
        assert_eq!(size_bytes(&[]), Ok(0));
        assert_eq!(size_bytes(&list(1024, 1)), Ok(1024));
        assert_eq!(size_bytes(&list(MAX_CHUNKS, 4 << 20)), Ok(128 << 30));
        for refused in [
            list(1025, 1),
            list(2000, 1000),
            list(MAX_CHUNKS + 1, 1 << 20),
            list(1, 0),
            list(3, (4 << 20) + 1),
            list(2, u32::MAX),
        ] {
            assert!(matches!(size_bytes(&refused), Err(Error::Invalid { field: "chunks", .. })));
        }
    }
}
