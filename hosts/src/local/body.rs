//! The body of a response: a read plan's bytes, in frames.
//!
//! Memory is bounded whatever the size: two frames a response (of a remote object what has arrived), and up to four slices
//! opened ahead. The exact size of a
//! plan's body is known before the first byte; pieces that are made while they are sent have none. A body that can't be completed is an error, which hyper turns into a broken connection.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::{self, LocalBoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use hyper::body::{Bytes, Frame, SizeHint};
use ledge_core::error::Error;
use ledge_core::plan::{ReadPlan, Slice};
use ledge_core::ports::BucketError;
use ledge_core::wrappers::Either;

use super::LocalBuckets;
use super::bucket::OpenObject;
use super::remote::Remote;

/// Large enough that a thread hop a frame doesn't count, small enough for many responses at once.
const FRAME_BYTES: u32 = 256 * 1024;

/// One frame is read while another one is sent.
const FRAMES_AHEAD: usize = 2;

/// How many slices are opened ahead.
const SLICES_AHEAD: usize = 4;

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// A response body.
pub struct Body {
    frames: LocalBoxStream<'static, Result<Bytes, BucketError>>,
    /// None where the size isn't known.
    remaining: Option<u64>,
}

impl Body {
    /// A body that is known already.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { remaining: Some(bytes.len() as u64), frames: stream::iter([Ok(bytes)]).boxed_local() }
    }

    /// A body that is made while it is sent.
    pub(super) fn stream(pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Self {
        let frames = pieces.map(|piece| {
            piece.map(Bytes::from).map_err(|error| {
                eprintln!("ledge: a response body broke off: {error}");
                BucketError::Unavailable(error.to_string())
            })
        });
        Self { remaining: None, frames: frames.boxed_local() }
    }

    /// The body that a plan describes, its first slices opened.
    pub(super) async fn open(objects: &LocalBuckets, plan: ReadPlan) -> Result<Self, BucketError> {
        let (remaining, objects) = (plan.len(), objects.clone());
        let mut opened = stream::iter(plan.into_slices())
            .map(move |slice| Source::open(objects.clone(), slice))
            .buffered(SLICES_AHEAD)
            .boxed_local();
        let first = opened.next().await.transpose()?;
        let frames =
            stream::iter(first.map(Ok)).chain(opened).map_ok(Source::frames).try_flatten().boxed_local();
        Ok(Self { frames, remaining: Some(remaining) })
    }
}

/// A slice, ready to be read.
enum Source {
    Inline(Bytes),
    Zeros(u64),
    Object(OpenObject, Range<u64>),
    Remote(Box<Remote>),
}

impl Source {
    async fn open(objects: LocalBuckets, slice: Slice) -> Result<Self, BucketError> {
        Ok(match slice {
            Slice::Inline(bytes) => Self::Inline(bytes.into()),
            Slice::Zeros(count) => Self::Zeros(count),
            Slice::Object { place, range } => match objects.of(place.bucket.as_deref())?.clone() {
                Either::Left(folder) => Self::Object(folder.open_object(&place, range.clone()).await?, range),
                Either::Right(bucket) => Self::Remote(Box::new(Remote::open(bucket, place, range).await?)),
            },
        })
    }

    fn frames(self) -> LocalBoxStream<'static, Result<Bytes, BucketError>> {
        match self {
            Self::Inline(bytes) => stream::iter([Ok(bytes)]).boxed_local(),
            Self::Zeros(count) => cut(0..count, ZEROS.len() as u64)
                .map(|frame| {
                    let length = usize::try_from(frame.end - frame.start).unwrap_or(ZEROS.len());
                    Ok(Bytes::from_static(ZEROS.get(..length).unwrap_or(&ZEROS)))
                })
                .boxed_local(),
            Self::Object(object, range) => cut(range, FRAME_BYTES.into())
                .map(move |frame| {
                    let object = object.clone();
                    async move { object.read(frame).await.map(Bytes::from) }
                })
                .buffered(FRAMES_AHEAD)
                .boxed_local(),
            Self::Remote(remote) => remote.frames().boxed_local(),
        }
    }
}

/// The range in pieces of at most `size`.
fn cut(range: Range<u64>, size: u64) -> impl Stream<Item = Range<u64>> + Send {
    stream::unfold(range, move |left| async move {
        let end = left.start.saturating_add(size).min(left.end);
        (left.start < end).then_some((left.start..end, end..left.end))
    })
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = BucketError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BucketError>>> {
        let frame = std::task::ready!(self.frames.poll_next_unpin(context));
        Poll::Ready(frame.map(|frame| {
            let bytes = frame?;
            self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(bytes.len() as u64));
            Ok(Frame::data(bytes))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").field("remaining", &self.remaining).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use hyper::body::Body as _;
    use ledge_core::digest::Sha256;
    use ledge_core::ports::{Bucket, Host};

    use super::super::{Temporary, temporary};
    use super::*;

    const SIZE: u32 = 1_000_000;

    /// A platform with an object `a`, and its content.
    async fn fixture() -> (Temporary, Vec<u8>) {
        let platform = temporary().unwrap();
        let content: Vec<u8> = (0..SIZE).map(|n| (n % 251) as u8).collect();
        platform.bucket.put("a", &content, Sha256::of(&content)).await.unwrap();
        (platform, content)
    }

    fn object(key: &str, range: Range<u64>) -> Slice {
        Slice::Object { place: key.into(), range }
    }

    fn plan(slices: impl IntoIterator<Item = Slice>) -> ReadPlan {
        let mut plan = ReadPlan::default();
        slices.into_iter().for_each(|slice| plan.push(slice));
        plan
    }

    #[tokio::test]
    async fn the_bytes_are_exactly_the_plans() {
        let (platform, content) = fixture().await;
        let slices = [
            object("a", 5..900_001),
            Slice::Zeros(100_000),
            Slice::Inline(b"inline".to_vec()),
            object("a", 999_999..1_000_000),
        ];
        let expected = [&content[5..900_001], &[0; 100_000], b"inline", &content[999_999..]].concat();
        let body = platform.host.open(plan(slices)).await.unwrap();
        assert_eq!(body.size_hint().exact(), Some(expected.len() as u64));
        assert!(body.collect().await.unwrap().to_bytes() == expected);

        let empty = platform.host.open(ReadPlan::default()).await.unwrap();
        assert!(empty.is_end_stream());
        assert!(empty.collect().await.unwrap().to_bytes().is_empty());
    }

    #[tokio::test]
    async fn a_first_object_that_is_missing_or_short_is_an_error_at_once() {
        let (platform, _) = fixture().await;
        for (slice, error) in [
            (object("b", 0..1), BucketError::NotFound("b".to_owned())),
            (object("a", 0..1_000_001), BucketError::OutOfRange("a".to_owned())),
        ] {
            assert_eq!(platform.host.open(plan([slice])).await.unwrap_err(), error);
        }
    }

    #[tokio::test]
    async fn an_object_that_is_missing_later_breaks_the_body_off() {
        let (platform, _) = fixture().await;
        let slices = (0..9).map(|n| object(if n == 8 { "b" } else { "a" }, n * 2..n * 2 + 1));
        let body = platform.host.open(plan(slices)).await.unwrap();
        assert_eq!(body.collect().await.unwrap_err(), BucketError::NotFound("b".to_owned()));
    }

    #[tokio::test]
    async fn an_object_deleted_while_it_is_read_is_read_to_its_end() {
        let (platform, content) = fixture().await;
        let body = platform.host.open(plan([object("a", 0..SIZE.into())])).await.unwrap();
        platform.bucket.delete(&["a".to_owned()]).await.unwrap();
        assert!(body.collect().await.unwrap().to_bytes() == content);
    }
}
