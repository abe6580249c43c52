//! Where objects are: in R2, by its binding, or in an S3 bucket, by `fetch`.

use std::ops::Range;

use futures::channel::oneshot::{self, Receiver};
use ledge_core::plan::Place;
use ledge_core::ports::BucketError;
use ledge_core::wrappers::Either;
use web_sys::ReadableStream;

use super::{Fetch, R2, bucket, js};
use crate::buckets::Configured;
use crate::s3::{Client, S3};

/// One of a Worker's buckets. Clones share it.
pub type Objects = Either<R2, S3<Fetch>>;

/// Asks for a range, which must not be empty, without waiting for the answer.
pub(super) fn ask(buckets: &Configured<Objects>, place: &Place, range: Range<u64>) -> Asked {
    let (key, etag) = (place.key.as_str(), place.etag.as_deref());
    match buckets.of(place.bucket.as_deref()) {
        Err(error) => Asked::Refused(error),
        Ok(Either::Left(bucket)) => Asked::R2(bucket.ask(key, range, etag)),
        Ok(Either::Right(bucket)) => {
            let (sender, receiver) = oneshot::channel();
            let (bucket, place) = (bucket.clone(), place.clone());
            // Nothing of it outlives the request: the runtime ends with it what nobody waits for.
            wasm_bindgen_futures::spawn_local(async move {
                let answer = bucket.open(&place.key, range, place.etag.as_deref()).await;
                if let Err(Ok(unwanted)) = sender.send(answer.map(|arriving| arriving.body)) {
                    Fetch.discard(unwanted).await;
                }
            });
            Asked::S3(receiver)
        }
    }
}

/// A range on its way.
pub(super) enum Asked {
    R2(bucket::Asked),
    S3(Receiver<Result<web_sys::Response, BucketError>>),
    /// Nothing was asked.
    Refused(BucketError),
}

impl Asked {
    /// Waits until the bucket has begun to answer: with a stream of the whole range, or an error.
    pub(super) async fn arrived(self) -> Result<ReadableStream, BucketError> {
        match self {
            Self::R2(asked) => {
                let object = asked.arrived().await?;
                object.body().map_err(|thrown| BucketError::Unavailable(js::reason(&thrown)))
            }
            Self::Refused(error) => Err(error),
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
