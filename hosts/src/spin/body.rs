//! From a read plan to a response body.
//!
//! A single object is the bucket's answer itself, of which nothing has been read: the host passes its bytes on, and none
//! enters WebAssembly memory. Several slices are read and written piece by piece.

use futures::stream::{self, LocalBoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use ledge_core::error::Error;
use ledge_core::plan::{Place, ReadPlan, Slice};
use ledge_core::ports::BucketError;
use spin_sdk::wasip3::http::types;

use super::client::{Outbound, PIECE_BYTES, Pieces};
use crate::buckets::Configured;
use crate::s3::S3;

/// How many objects are asked for while an earlier one is sent.
const ASKED_AHEAD: usize = 4;

/// A response body.
pub struct Body(pub(super) Content);

pub(super) enum Content {
    /// Bytes that are known already; possibly none.
    Bytes(Vec<u8>),
    /// The bucket's answer.
    Unread(types::Response),
    /// What is made while it is sent. An error breaks the connection.
    Pieces(LocalBoxStream<'static, Result<Vec<u8>, String>>),
}

impl Body {
    /// A body that is in memory already.
    pub fn inline(bytes: Vec<u8>) -> Self {
        Self(Content::Bytes(bytes))
    }

    /// A body that is made while it is sent.
    pub(super) fn stream(pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Self {
        Self(Content::Pieces(pieces.map_err(|error| error.to_string()).boxed_local()))
    }

    /// The body that a plan describes. Its first object has begun to arrive before this returns.
    pub(super) async fn open(
        buckets: &Configured<S3<Outbound>>,
        plan: ReadPlan,
    ) -> Result<Self, BucketError> {
        let mut slices = plan.into_slices();
        if let [Slice::Object { place, range }] = slices.as_mut_slice() {
            let bucket = buckets.of(place.bucket.as_deref())?;
            return Ok(Self(Content::Unread(
                bucket.open(&place.key, range.clone(), place.etag.as_deref()).await?.body,
            )));
        }
        let buckets = buckets.clone();
        let mut opened = stream::iter(slices)
            .map(move |slice| Source::open(buckets.clone(), slice))
            .buffered(ASKED_AHEAD)
            .boxed_local();
        let mut first = Vec::new();
        // Up to the first object: what is inline before it can't fail.
        while let Some(source) = opened.next().await.transpose()? {
            let is_object = matches!(source, Source::Object { .. });
            first.push(Ok(source));
            if is_object {
                break;
            }
        }
        let pieces = stream::iter(first).chain(opened).map_ok(Source::pieces).try_flatten();
        Ok(Self(Content::Pieces(pieces.map_err(|error| error.to_string()).boxed_local())))
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Content::Bytes(_) => "Body::Bytes",
            Content::Unread(_) => "Body::Unread",
            Content::Pieces(_) => "Body::Pieces",
        })
    }
}

/// A slice, ready to be read.
enum Source {
    Inline(Vec<u8>),
    Zeros(u64),
    Object { key: String, length: u64, answer: types::Response },
}

impl Source {
    async fn open(buckets: Configured<S3<Outbound>>, slice: Slice) -> Result<Self, BucketError> {
        Ok(match slice {
            Slice::Inline(bytes) => Self::Inline(bytes),
            Slice::Zeros(count) => Self::Zeros(count),
            Slice::Object { place: Place { bucket, key, etag }, range } => {
                let bucket = buckets.of(bucket.as_deref())?;
                let length = range.end.saturating_sub(range.start);
                let answer = bucket.open(&key, range, etag.as_deref()).await?.body;
                Self::Object { key, length, answer }
            }
        })
    }

    fn pieces(self) -> LocalBoxStream<'static, Result<Vec<u8>, BucketError>> {
        match self {
            Self::Inline(bytes) => stream::iter([Ok(bytes)]).boxed_local(),
            Self::Zeros(count) => stream::unfold(count, async |left| {
                let now = usize::try_from(left).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
                (now > 0).then(|| (Ok(vec![0; now]), left - now as u64))
            })
            .boxed_local(),
            Self::Object { key, length, answer } => {
                let state = (Pieces::of(answer), key, length);
                stream::try_unfold(state, async |(mut pieces, key, missing)| {
                    match pieces.next().await.map_err(|broken| BucketError::Unavailable(broken.0))? {
                        None if missing == 0 => Ok(None),
                        None => Err(BucketError::Unavailable(format!("{key} broke off"))),
                        Some(piece) => {
                            let missing = missing.checked_sub(piece.len() as u64).ok_or_else(|| {
                                BucketError::Unavailable(format!("of {key} came more than was asked for"))
                            })?;
                            Ok(Some((piece, (pieces, key, missing))))
                        }
                    }
                })
                .boxed_local()
            }
        }
    }
}
