//! Bodies of XML.

use http::StatusCode;
use ledge_core::ports::Upload;

use super::Failure;

/// The largest body.
const MAX_BYTES: usize = 1 << 20;
/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Reads a body.
pub(super) async fn read(mut upload: impl Upload) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    while upload.read(&mut bytes, PIECE_BYTES).await.map_err(ledge_core::error::Error::from)? > 0 {
        if bytes.len() > MAX_BYTES {
            let detail = format!("the body is larger than {MAX_BYTES} bytes");
            return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
        }
    }
    Ok(bytes)
}
