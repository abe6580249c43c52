//! JSON bodies.

use ledge_core::error::{Error, Result};
use ledge_core::ports::Upload;
use serde::de::DeserializeOwned;

/// The largest body: its names, three times as long in NFC at worst, still fit a bound text of 2 MB.
const MAX_BODY_BYTES: usize = 600_000;
/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Reads a body that must be there.
pub(super) async fn read<T: DeserializeOwned>(upload: impl Upload) -> Result<T> {
    parse(&bytes(upload).await?)
}

/// Reads a body that may be empty.
pub(super) async fn read_or_default<T: DeserializeOwned + Default>(upload: impl Upload) -> Result<T> {
    let bytes = bytes(upload).await?;
    if bytes.is_empty() { Ok(T::default()) } else { parse(&bytes) }
}

/// Reads a body to its end.
pub(super) async fn bytes(upload: impl Upload) -> Result<Vec<u8>> {
    bytes_up_to(upload, MAX_BODY_BYTES).await
}

/// Reads a body of at most `limit` bytes to its end.
pub(super) async fn bytes_up_to(mut upload: impl Upload, limit: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while upload.read(&mut bytes, PIECE_BYTES).await? > 0 {
        if bytes.len() > limit {
            return Err(Error::BodyTooLarge { limit_bytes: limit as u64 });
        }
    }
    Ok(bytes)
}

/// Reads JSON.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::invalid("body", format!("expected JSON: {error}")))
}
