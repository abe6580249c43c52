//! Counts what a request costs, for the budgets and for `Server-Timing`.

use std::cell::Cell;
use std::future::Future;
use std::ops::Range;

use futures::Stream;

use crate::auth;
use crate::digest::Sha256;
use crate::error::Error;
use crate::plan::ReadPlan;
use crate::ports::{
    Bucket, BucketError, Buckets, Db, DbError, Direct, Host, ListPage, Presigned, Rows, Statement, Timestamp,
};

/// What has been used so far.
#[derive(Debug, Default)]
pub struct Counts {
    round_trips: Cell<u32>,
    bucket_operations: Cell<u32>,
    stored_bytes: Cell<u64>,
    is_limited: Cell<bool>,
}

impl Counts {
    /// `Db` batches.
    pub fn round_trips(&self) -> u32 {
        self.round_trips.get()
    }

    /// Bucket calls, and the ranged reads that response bodies consist of.
    pub fn bucket_operations(&self) -> u32 {
        self.bucket_operations.get()
    }

    /// Bytes that were put into the bucket: the part of an upload that wasn't known.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes.get()
    }

    /// Whether the request came with a token that is limited to a folder: what an upload stores would tell it what is
    /// outside.
    pub fn is_limited(&self) -> bool {
        self.is_limited.get()
    }

    fn answered(&self, results: Result<Vec<Rows>, DbError>) -> Result<Vec<Rows>, DbError> {
        if results.as_ref().is_ok_and(|results| auth::is_limited_to_a_folder(results)) {
            self.is_limited.set(true);
        }
        results
    }

    fn round_trip(&self) {
        self.round_trips.set(self.round_trips.get().saturating_add(1));
    }

    fn bucket(&self, operations: usize) {
        let operations = u32::try_from(operations).unwrap_or(u32::MAX);
        self.bucket_operations.set(self.bucket_operations.get().saturating_add(operations));
    }
}

/// A port that counts its calls.
#[derive(Debug)]
pub struct Counting<'a, T> {
    inner: &'a T,
    counts: &'a Counts,
}

impl<'a, T> Counting<'a, T> {
    /// Counts the calls of `inner` in `counts`.
    pub fn new(inner: &'a T, counts: &'a Counts) -> Self {
        Self { inner, counts }
    }
}

impl<T: Db> Db for Counting<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.counts.round_trip();
        self.counts.answered(self.inner.read(batch).await)
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.counts.round_trip();
        self.counts.answered(self.inner.write(batch).await)
    }
}

/// A bucket that counts its calls.
#[derive(Debug)]
pub struct CountingBucket<'a, B> {
    inner: B,
    counts: &'a Counts,
}

impl<'a, B> CountingBucket<'a, B> {
    /// Counts the calls of `inner`, and of the buckets that it names, in `counts`.
    pub fn new(inner: B, counts: &'a Counts) -> Self {
        Self { inner, counts }
    }
}

impl<'a, B: Buckets> Buckets for CountingBucket<'a, B> {
    type Named = CountingBucket<'a, B::Named>;

    fn named(&self, name: &str) -> Option<Self::Named> {
        Some(CountingBucket::new(self.inner.named(name)?, self.counts))
    }

    fn names(&self) -> Vec<String> {
        self.inner.names()
    }
}

impl<B: Bucket> Bucket for CountingBucket<'_, B> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.counts.bucket(1);
        self.inner.get(key, range).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.counts.bucket(1);
        self.inner.get_unchanged(key, etag, range).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.counts.bucket(1);
        self.inner.etag(key).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        self.counts.bucket(1);
        self.counts.stored_bytes.set(self.counts.stored_bytes.get() + bytes.len() as u64);
        self.inner.put(key, bytes, sha256).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        self.counts.bucket(1);
        self.inner.delete(keys).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        self.counts.bucket(1);
        self.inner.list(prefix, cursor).await
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        self.inner.presign(key, direct)
    }
}

impl<T: Host> Host for Counting<'_, T> {
    type Body = T::Body;

    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn random(&self, into: &mut [u8]) {
        self.inner.random(into);
    }

    async fn sha256(&self, bytes: &[u8]) -> Sha256 {
        self.inner.sha256(bytes).await
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.inner.spawn(task);
    }

    async fn sleep(&self, millis: u64) {
        self.inner.sleep(millis).await;
    }

    fn report(&self, failure: &str) {
        self.inner.report(failure);
    }

    fn most_reads(&self) -> usize {
        self.inner.most_reads()
    }

    fn inline(&self, bytes: Vec<u8>) -> T::Body {
        self.inner.inline(bytes)
    }

    fn stream(&self, pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> T::Body {
        self.inner.stream(pieces)
    }

    async fn open(&self, plan: ReadPlan) -> Result<T::Body, BucketError> {
        self.counts.bucket(plan.bucket_reads());
        self.inner.open(plan).await
    }
}
