//! What a host's runner adds to the suite: the ways in and out of the host that no port covers.

use ledge_core::ports::Upload;

/// Content in, content out, as a client would do it.
pub trait Runner {
    /// The host's response body.
    type Body;
    /// The host's request body.
    type Upload: Upload;

    /// Reads a response body to its end, as a client would receive it; a body that breaks off is an error.
    async fn content(&self, body: Self::Body) -> anyhow::Result<Vec<u8>>;

    /// A request body whose sender announces `announced_bytes`, sends `bytes`, and says no more.
    async fn upload(&self, bytes: Vec<u8>, announced_bytes: u64) -> anyhow::Result<Self::Upload>;
}
