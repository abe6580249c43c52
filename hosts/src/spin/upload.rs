//! `Upload` over a request's body.

use ledge_core::ports::{Upload, UploadError};
use spin_sdk::wasip3::http::types::{self, ErrorCode};
use spin_sdk::wasip3::wit_bindgen::{FutureReader, StreamReader, StreamResult};
use spin_sdk::wasip3::wit_future;

use super::client::{PIECE_BYTES, reason};

/// The body of a request, read once from front to back.
#[derive(Debug)]
pub struct RequestBody {
    state: State,
    /// What Content-Length announced and hasn't come yet.
    missing_bytes: Option<u64>,
}

#[derive(Debug)]
enum State {
    Unread(types::Request),
    Reading { stream: StreamReader<u8>, end: FutureReader<Result<Option<types::Trailers>, ErrorCode>> },
    Ended,
    Broken(String),
}

impl RequestBody {
    /// The body of a request that announced `content_length`.
    pub(super) fn new(request: types::Request, content_length: Option<u64>) -> Self {
        Self { state: State::Unread(request), missing_bytes: content_length }
    }

    fn broken(&mut self, reason: String) -> UploadError {
        self.state = State::Broken(reason.clone());
        UploadError::Cut(reason)
    }

    /// What has come, at most so much; nothing at the end.
    async fn piece(&mut self, at_most: usize) -> Result<Vec<u8>, String> {
        let (mut stream, end) = match std::mem::replace(&mut self.state, State::Ended) {
            State::Unread(request) => {
                let (_result, reader) = wit_future::new(|| Ok(()));
                types::Request::consume_body(request, reader)
            }
            State::Reading { stream, end } => (stream, end),
            State::Ended => return Ok(Vec::new()),
            State::Broken(reason) => return Err(reason),
        };
        loop {
            let buffer = Vec::with_capacity(at_most.clamp(1, PIECE_BYTES));
            let (result, bytes) = stream.read(buffer).await;
            match result {
                // The rest of the last piece, if there is any; then the next call finds the end.
                StreamResult::Dropped if bytes.is_empty() => {
                    return match end.await {
                        Ok(_trailers) => Ok(Vec::new()),
                        Err(code) => Err(reason(&code)),
                    };
                }
                _ if bytes.is_empty() => {}
                _ => {
                    self.state = State::Reading { stream, end };
                    return Ok(bytes);
                }
            }
        }
    }
}

impl Upload for RequestBody {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        let bytes = match self.piece(at_most).await {
            Ok(bytes) => bytes,
            Err(reason) => return Err(self.broken(reason)),
        };
        if bytes.is_empty() {
            return match self.missing_bytes {
                Some(missing) if missing > 0 => Err(self.broken(format!("{missing} bytes are missing"))),
                _ => Ok(0),
            };
        }
        into.extend_from_slice(&bytes);
        self.missing_bytes = self.missing_bytes.map(|missing| missing.saturating_sub(bytes.len() as u64));
        Ok(bytes.len())
    }
}
