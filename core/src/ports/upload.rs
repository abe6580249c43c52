//! `Upload`: a request's body on its way in.

/// Content that a client sends. The host implements it over its own body type.
///
/// # Contract
/// - `read` appends 1 to `at_most` bytes to `into` and returns their number; 0 means that the body has ended
///   as its sender meant it to.
/// - A connection that breaks, or a body shorter than its Content-Length, is [`UploadError::Cut`], never 0.
pub trait Upload {
    /// Appends what comes next.
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError>;
}

/// Why a body could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// The body ended before its sender meant it to.
    #[error("the body ended early: {0}")]
    Cut(String),
}

/// A body that is in memory already: small JSON bodies, tests.
impl Upload for &[u8] {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        let (now, later) = self.split_at(at_most.min(self.len()));
        into.extend_from_slice(now);
        *self = later;
        Ok(now.len())
    }
}
