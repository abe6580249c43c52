//! gzip, by which every machine can read a dump: `zcat` and `jq` are enough.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Lines of a part, being compressed.
#[derive(Debug)]
pub(super) struct Packer {
    encoder: GzEncoder<Vec<u8>>,
    /// The size before compression.
    pub(super) plain_bytes: usize,
}

impl Packer {
    pub(super) fn new() -> Self {
        Self { encoder: GzEncoder::new(Vec::new(), Compression::default()), plain_bytes: 0 }
    }

    /// Adds lines, and the line feed behind the last one.
    pub(super) fn lines(&mut self, lines: &str) -> Result<(), GzipError> {
        self.plain_bytes += lines.len() + 1;
        self.encoder.write_all(lines.as_bytes())?;
        self.encoder.write_all(b"\n")?;
        Ok(())
    }

    /// The compressed bytes.
    pub(super) fn finish(self) -> Result<Vec<u8>, GzipError> {
        Ok(self.encoder.finish()?)
    }
}

/// Compresses bytes.
///
/// # Errors
/// None with memory at both ends; the signature is that of the library's.
pub fn pack(bytes: &[u8]) -> Result<Vec<u8>, GzipError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Decompresses bytes to at most `limit_bytes`.
///
/// # Errors
/// They are damaged, or of more than the limit.
pub fn unpack(packed: &[u8], limit_bytes: u64) -> Result<Vec<u8>, GzipError> {
    let mut plain = Vec::new();
    GzDecoder::new(packed).take(limit_bytes.saturating_add(1)).read_to_end(&mut plain)?;
    if plain.len() as u64 > limit_bytes {
        return Err(GzipError(format!("more than {limit_bytes} bytes")));
    }
    Ok(plain)
}

/// Compressed bytes that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not readable as gzip: {0}")]
pub struct GzipError(String);

impl From<std::io::Error> for GzipError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<GzipError> for crate::error::Error {
    fn from(error: GzipError) -> Self {
        Self::Internal(error.to_string())
    }
}
