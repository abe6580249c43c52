//! What only an S3 bucket shows. Where it, or the way there, fails: reads fail as a whole or not at all, writes commit nothing,
//! and afterwards everything works again; the server is this program's own, behind a proxy that does the harm. Direct
//! transfers, which need URLs of the bucket. And imports of objects that change behind the drive's back.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod direct;
mod imports;
mod reads;
mod writes;

use ledge_tests::{Mortal, Proxy, Reply};

/// Larger than a body that a row or one frame holds.
const SIZE: usize = 3_000_000;

/// More than anybody tries.
const ALWAYS: usize = usize::MAX;

/// A server whose bucket is behind a proxy.
struct Harmed {
    server: Mortal,
    proxy: Proxy,
}

impl Harmed {
    fn new() -> Self {
        let proxy = Proxy::before(&Mortal::variable("LEDGE_S3_ENDPOINT"));
        let server = Mortal::with(&[("LEDGE_S3_ENDPOINT", proxy.url())]);
        Self { server, proxy }
    }

    fn put(&self, name: &str, content: &[u8]) -> u16 {
        let request = self.server.in_space("PUT", &format!("files/{name}"));
        Reply::to(request.body(content.to_vec())).status
    }

    /// The content, or the status of a refusal, or 0 for a body that broke off.
    fn get(&self, name: &str) -> Result<Vec<u8>, u16> {
        let request = self.server.in_space("GET", &format!("files/{name}"));
        let response = request.send().map_err(|_| 0_u16)?;
        let status = response.status().as_u16();
        let announced = response.content_length();
        let body = response.bytes().map_err(|_| 0_u16)?.to_vec();
        if status != 200 {
            return Err(status);
        }
        assert_eq!(announced, Some(body.len() as u64), "a whole body is as long as it says");
        Ok(body)
    }
}

impl Drop for Harmed {
    fn drop(&mut self) {
        let said = self.server.said();
        for secret in ["X-Amz-Signature", "X-Amz-Credential", "no-log-may-show"] {
            // A second panic while a test fails would hide the first one.
            assert!(std::thread::panicking() || !said.contains(secret), "{secret} in {said}");
        }
    }
}
