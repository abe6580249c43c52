//! `Host`: what else a machine provides.

use std::future::Future;

use futures::Stream;

use super::BucketError;
use crate::digest::Sha256;
use crate::error::Error;
use crate::plan::ReadPlan;

/// Clock, timer, randomness, hashing, work after the response, and response bodies.
///
/// # Contract
/// - `random` is fit for secrets.
/// - `sleep` ends after that many milliseconds, and by then `now` has moved on by as many.
/// - `compute` runs a calculation where it holds up as little else as the host can: on another thread, where there are any. It
///   is run once, and its value returned.
/// - A `spawn`ed task runs on after the response is sent, and may be cut off by the platform: it may only do
///   what a sweep would do later.
/// - `open` turns a plan into the host's own body without moving content bytes through core. The bytes of the body are
///   exactly the plan's, in order, and [`ReadPlan::len`] of them; a body that can't be completed ends in
///   a broken connection, never in a short body that looks whole. The first slice is asked for before `open` returns, so
///   that a missing object or a failing bucket is an error while it can still be answered.
/// - `stream` makes a body of unknown length. It asks for a piece only when the client has taken the one before, and an
///   error breaks the connection.
pub trait Host {
    /// A response body in the host's own terms.
    type Body;

    /// The current time.
    fn now(&self) -> Timestamp;

    /// Fills `into` with random bytes.
    fn random(&self, into: &mut [u8]);

    /// SHA-256, by the fastest means the host has.
    async fn sha256(&self, bytes: &[u8]) -> Sha256;

    /// Runs a calculation that may take a second.
    async fn compute<V: Send + 'static>(&self, calculation: impl FnOnce() -> V + Send + 'static) -> V {
        calculation()
    }

    /// Runs a task beside the response.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);

    /// Lets other work go on for a while.
    async fn sleep(&self, millis: u64);

    /// Tells the operator of a failure: one line in the host's log, readable alone. Never a secret.
    fn report(&self, failure: &str);

    /// How many reads from buckets a response body may take: the slices of a plan that are objects.
    fn most_reads(&self) -> usize;

    /// A response body that is in memory already.
    fn inline(&self, bytes: Vec<u8>) -> Self::Body;

    /// A response body whose pieces are made while it is sent.
    fn stream(&self, pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Self::Body;

    /// Makes a response body from a plan.
    async fn open(&self, plan: ReadPlan) -> Result<Self::Body, BucketError>;
}

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This moment plus a number of seconds.
    #[must_use]
    pub fn plus_secs(self, secs: i64) -> Self {
        Self(self.0.saturating_add(secs.saturating_mul(1000)))
    }
}

impl From<Timestamp> for super::Value {
    fn from(time: Timestamp) -> Self {
        Self::Integer(time.0)
    }
}

impl<T: Host> Host for &T {
    type Body = T::Body;

    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn random(&self, into: &mut [u8]) {
        (**self).random(into);
    }

    async fn sha256(&self, bytes: &[u8]) -> Sha256 {
        (**self).sha256(bytes).await
    }

    async fn compute<V: Send + 'static>(&self, calculation: impl FnOnce() -> V + Send + 'static) -> V {
        (**self).compute(calculation).await
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        (**self).spawn(task);
    }

    async fn sleep(&self, millis: u64) {
        (**self).sleep(millis).await;
    }

    fn report(&self, failure: &str) {
        (**self).report(failure);
    }

    fn most_reads(&self) -> usize {
        (**self).most_reads()
    }

    fn inline(&self, bytes: Vec<u8>) -> Self::Body {
        (**self).inline(bytes)
    }

    fn stream(&self, pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Self::Body {
        (**self).stream(pieces)
    }

    async fn open(&self, plan: ReadPlan) -> Result<Self::Body, BucketError> {
        (**self).open(plan).await
    }
}
