//! `Host` on Spin: WASI's clocks and randomness, SHA-256 in WebAssembly, tasks that outlive the answer.

use std::future::Future;

use futures::Stream;
use ledge_core::digest::Sha256;
use ledge_core::error::Error;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{BucketError, Host, Timestamp};
use spin_sdk::wasip3::{random, spawn};

use super::Body;
use super::client::{self, Outbound};
use crate::buckets::Configured;
use crate::s3::S3;

/// What Spin provides, for one request.
#[derive(Debug)]
pub struct SpinHost {
    bucket: Configured<S3<Outbound>>,
}

impl SpinHost {
    pub(super) fn new(bucket: Configured<S3<Outbound>>) -> Self {
        Self { bucket }
    }
}

impl Host for SpinHost {
    type Body = Body;

    fn now(&self) -> Timestamp {
        client::now()
    }

    fn random(&self, into: &mut [u8]) {
        let mut filled = 0;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            // It may give fewer than it is asked for, but not none.
            let bytes = random::random::get_random_bytes(rest.len() as u64);
            let count = bytes.len().min(rest.len());
            for (to, from) in rest.iter_mut().zip(bytes) {
                *to = from;
            }
            filled += count;
        }
    }

    async fn sha256(&self, bytes: &[u8]) -> Sha256 {
        Sha256::of(bytes)
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        spawn(task);
    }

    async fn sleep(&self, millis: u64) {
        client::sleep(millis).await;
    }

    fn report(&self, failure: &str) {
        eprintln!("ledge: {failure}");
    }

    fn most_reads(&self) -> usize {
        usize::MAX
    }

    fn inline(&self, bytes: Vec<u8>) -> Body {
        Body::inline(bytes)
    }

    fn stream(&self, pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Body {
        Body::stream(pieces)
    }

    async fn open(&self, plan: ReadPlan) -> Result<Body, BucketError> {
        Body::open(&self.bucket, plan).await
    }
}
