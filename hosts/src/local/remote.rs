//! An object in a bucket elsewhere, on its way to a client.
//!
//! A range that breaks off goes on where it was, a few times: what was sent is right, since objects never change, and the
//! entity tag makes sure of it. If it can't go on, the stream ends in an error, never before its end.

use std::ops::Range;
use std::time::Duration;

use futures::{Stream, stream};
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use ledge_core::plan::Place;
use ledge_core::ports::BucketError;

use super::HttpClient;
use super::client::broken;
use crate::s3::{Arriving, S3};

/// How often a range goes on after it broke off.
const RESUMES: u32 = 3;

/// How long nothing may come while the client waits.
const SILENCE: Duration = Duration::from_secs(15);

/// A range that has begun to arrive.
pub(super) struct Remote {
    bucket: S3<HttpClient>,
    key: String,
    /// What hasn't come yet.
    left: Range<u64>,
    arriving: Option<Arriving<Incoming>>,
    etag: Option<String>,
    resumes_left: u32,
}

impl Remote {
    pub(super) async fn open(
        bucket: S3<HttpClient>,
        place: Place,
        range: Range<u64>,
    ) -> Result<Self, BucketError> {
        let key = place.key;
        let mut arriving = bucket.open(&key, range.clone(), place.etag.as_deref()).await?;
        let etag = place.etag.or(arriving.etag.take());
        Ok(Self { bucket, key, left: range, arriving: Some(arriving), etag, resumes_left: RESUMES })
    }

    pub(super) fn frames(self: Box<Self>) -> impl Stream<Item = Result<Bytes, BucketError>> {
        stream::try_unfold(self, |mut remote| async move {
            let frame = remote.next().await?;
            Ok(frame.map(|frame| (frame, remote)))
        })
    }

    async fn next(&mut self) -> Result<Option<Bytes>, BucketError> {
        while !self.left.is_empty() {
            let reason = match self.arrived().await {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(reason) => reason,
            };
            if self.resumes_left == 0 {
                return Err(BucketError::Unavailable(format!("{} broke off: {reason}", self.key)));
            }
            self.resumes_left -= 1;
            let rest = self.bucket.open(&self.key, self.left.clone(), self.etag.as_deref()).await?;
            self.arriving = Some(rest);
        }
        Ok(None)
    }

    /// The next bytes, none of them beyond the range; else why there are none. Then the answer is given up.
    async fn arrived(&mut self) -> Result<Bytes, String> {
        let mut arriving = self.arriving.take().ok_or("it is over")?;
        loop {
            let frame = tokio::time::timeout(SILENCE, arriving.body.frame()).await;
            let frame = frame.map_err(|_| format!("nothing came for {} s", SILENCE.as_secs()))?;
            let frame = frame.ok_or("it ended before its end")?.map_err(|error| broken(&error).0)?;
            // Trailers are no content.
            let Ok(bytes) = frame.into_data() else { continue };
            if bytes.is_empty() {
                continue;
            }
            let length = bytes.len() as u64;
            if length > self.left.end - self.left.start {
                return Err("more came than was asked for".to_owned());
            }
            self.left.start += length;
            self.arriving = Some(arriving);
            return Ok(bytes);
        }
    }
}
