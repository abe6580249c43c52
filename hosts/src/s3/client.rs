//! What a host brings along: an HTTP client, a clock and a timer.

use http::{Request, Response};
use ledge_core::ports::Timestamp;

/// A host's HTTP client.
///
/// # Contract
/// - `send` sends the request as it is, URL and headers unchanged, with a `Content-Length` (none for GET, HEAD and DELETE),
///   and answers when the response's head has arrived. Redirects are answers and not followed, and a body that says it is
///   compressed is left so.
/// - A response body whose `Content-Length` is known ends with exactly so many bytes, or with an error.
/// - What is dropped while it waits is given up.
/// - The URL is a secret: no error, log or trace shows it.
/// - Time-outs are the caller's, by `sleep`.
pub trait Client: Clone + 'static {
    /// A response body that hasn't been read.
    type Body;

    /// Sends a request.
    ///
    /// # Errors
    /// No answer came.
    async fn send(&self, request: Request<&[u8]>) -> Result<Response<Self::Body>, Broken>;

    /// All bytes of a body, which is given up where it has more than `limit_bytes`.
    ///
    /// # Errors
    /// It broke off, or is longer.
    async fn collect(&self, body: Self::Body, limit_bytes: usize) -> Result<Vec<u8>, Broken>;

    /// Lets go of a body that nobody wants, and of its connection if need be.
    async fn discard(&self, body: Self::Body) {
        drop(body);
    }

    /// The current time.
    fn now(&self) -> Timestamp;

    /// Any number: it spreads out those who try again at once.
    fn jitter(&self) -> u32;

    /// Waits for so long.
    async fn sleep(&self, millis: u64);
}

/// No answer, or only a part of one. The text says why, without the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);
