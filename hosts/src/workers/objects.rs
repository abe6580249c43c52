//! Where objects are: in R2, by its binding, or in an S3 bucket, by `fetch`.

use std::ops::Range;

use futures::channel::oneshot::{self, Receiver};
use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, BucketError, Direct, ListPage, Presigned};
use web_sys::ReadableStream;

use super::{Fetch, R2, bucket, js};
use crate::s3::{Client, S3};

/// A Worker's bucket. Clones share it.
#[derive(Debug, Clone)]
pub enum Objects {
    /// The binding.
    R2(R2),
    /// A bucket elsewhere.
    S3(S3<Fetch>),
}

impl Objects {
    /// Asks for a range, which must not be empty, without waiting for the answer.
    pub(super) fn ask(&self, key: &str, range: Range<u64>) -> Asked {
        match self {
            Self::R2(bucket) => Asked::R2(bucket.ask(key, range)),
            Self::S3(bucket) => {
                let (sender, receiver) = oneshot::channel();
                let (bucket, key) = (bucket.clone(), key.to_owned());
                // Nothing of it outlives the request: the runtime ends with it what nobody waits for.
                wasm_bindgen_futures::spawn_local(async move {
                    let answer = bucket.open(&key, range, None).await;
                    if let Err(Ok(unwanted)) = sender.send(answer.map(|arriving| arriving.body)) {
                        Fetch.discard(unwanted).await;
                    }
                });
                Asked::S3(receiver)
            }
        }
    }
}

/// A range on its way.
pub(super) enum Asked {
    R2(bucket::Asked),
    S3(Receiver<Result<web_sys::Response, BucketError>>),
}

impl Asked {
    /// Waits until the bucket has begun to answer: with a stream of the whole range, or an error.
    pub(super) async fn arrived(self) -> Result<ReadableStream, BucketError> {
        match self {
            Self::R2(asked) => {
                let object = asked.arrived().await?;
                object.body().map_err(|thrown| BucketError::Unavailable(js::reason(&thrown)))
            }
            Self::S3(answer) => {
                let gone = |_| BucketError::Unavailable("the request to the bucket was given up".to_owned());
                let response = answer.await.map_err(gone)??;
                response.body().ok_or_else(|| BucketError::Unavailable("an answer without a body".to_owned()))
            }
        }
    }

    /// Waits for the answer only to throw it away: a stream that nobody reads keeps its connection.
    pub(super) async fn discarded(self) {
        if let Ok(stream) = self.arrived().await {
            // It fails only where the stream has already ended.
            let _ = js::settle(Ok(stream.cancel())).await;
        }
    }
}

impl Bucket for Objects {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        match self {
            Self::R2(bucket) => bucket.get(key, range).await,
            Self::S3(bucket) => bucket.get(key, range).await,
        }
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        match self {
            Self::R2(bucket) => bucket.put(key, bytes, sha256).await,
            Self::S3(bucket) => bucket.put(key, bytes, sha256).await,
        }
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        match self {
            Self::R2(bucket) => bucket.delete(keys).await,
            Self::S3(bucket) => bucket.delete(keys).await,
        }
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        match self {
            Self::R2(bucket) => bucket.list(prefix, cursor).await,
            Self::S3(bucket) => bucket.list(prefix, cursor).await,
        }
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        match self {
            Self::R2(bucket) => bucket.presign(key, direct),
            Self::S3(bucket) => bucket.presign(key, direct),
        }
    }
}
