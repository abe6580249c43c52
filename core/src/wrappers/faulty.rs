//! Fails on purpose, at a chosen call, before or after the call takes effect.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::ops::Range;
use std::task::{Poll, Waker};

use crate::digest::Sha256;
use crate::ports::{Bucket, BucketError, Buckets, Db, DbError, Direct, ListPage, Presigned, Rows, Statement};

/// One planned failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which call fails, counted from 0 over all calls of the wrapped ports.
    pub call: u32,
    /// Whether the call takes effect.
    pub when: When,
}

/// On which side of the effect a call fails, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// An error; nothing happened.
    Before,
    /// An error, but it happened: the answer is lost.
    After,
    /// The process dies before it happens: the call never returns.
    DiesBefore,
    /// The process dies when it has happened: the call never returns.
    DiesAfter,
}

/// The failure to come, shared by the ports of one platform.
#[derive(Debug, Default)]
pub struct Faults {
    planned: Option<Fault>,
    calls: Cell<u32>,
    dead: Cell<bool>,
    mourner: RefCell<Option<Waker>>,
}

impl Faults {
    /// Plans one failure.
    pub fn at(call: u32, when: When) -> Self {
        Self { planned: Some(Fault { call, when }), ..Self::default() }
    }

    /// The number of calls so far: how many steps there were at which to fail.
    pub fn calls(&self) -> u32 {
        self.calls.get()
    }

    fn next(&self) -> Option<When> {
        let call = self.calls.get();
        self.calls.set(call.saturating_add(1));
        self.planned.filter(|fault| fault.call == call).map(|fault| fault.when)
    }

    /// Ends when the process has died.
    pub async fn death(&self) {
        poll_fn(|context| {
            *self.mourner.borrow_mut() = Some(context.waker().clone());
            if self.dead.get() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    async fn die<T>(&self) -> T {
        self.dead.set(true);
        if let Some(mourner) = self.mourner.take() {
            mourner.wake();
        }
        pending().await
    }

    async fn around<T, E>(
        &self,
        call: impl Future<Output = Result<T, E>>,
        error: impl Fn() -> E,
    ) -> Result<T, E> {
        match self.next() {
            None => call.await,
            Some(When::Before) => Err(error()),
            Some(When::After) => {
                call.await?;
                Err(error())
            }
            Some(When::DiesBefore) => self.die().await,
            Some(When::DiesAfter) => {
                // Whether it succeeded, nobody lives to see.
                let _unseen = call.await;
                self.die().await
            }
        }
    }
}

/// A port that fails where its schedule says so.
#[derive(Debug)]
pub struct Faulty<'a, T> {
    inner: &'a T,
    faults: &'a Faults,
}

impl<'a, T> Faulty<'a, T> {
    /// Makes `inner` fail as `faults` plans it.
    pub fn new(inner: &'a T, faults: &'a Faults) -> Self {
        Self { inner, faults }
    }
}

const INJECTED: &str = "injected fault";

fn no_database() -> DbError {
    DbError::Unavailable(INJECTED.to_owned())
}

fn no_bucket() -> BucketError {
    BucketError::Unavailable(INJECTED.to_owned())
}

impl<T: Db> Db for Faulty<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.faults.around(self.inner.read(batch), no_database).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.faults.around(self.inner.write(batch), no_database).await
    }
}

/// A bucket that fails where its schedule says so.
#[derive(Debug)]
pub struct FaultyBucket<'a, B> {
    inner: B,
    faults: &'a Faults,
}

impl<'a, B> FaultyBucket<'a, B> {
    /// Makes `inner`, and the buckets that it names, fail as `faults` plans it.
    pub fn new(inner: B, faults: &'a Faults) -> Self {
        Self { inner, faults }
    }
}

impl<'a, B: Buckets> Buckets for FaultyBucket<'a, B> {
    type Named = FaultyBucket<'a, B::Named>;

    fn named(&self, name: &str) -> Option<Self::Named> {
        Some(FaultyBucket::new(self.inner.named(name)?, self.faults))
    }

    fn names(&self) -> Vec<String> {
        self.inner.names()
    }
}

impl<B: Bucket> Bucket for FaultyBucket<'_, B> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.faults.around(self.inner.get(key, range), no_bucket).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.faults.around(self.inner.get_unchanged(key, etag, range), no_bucket).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.faults.around(self.inner.etag(key), no_bucket).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        self.faults.around(self.inner.put(key, bytes, sha256), no_bucket).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        self.faults.around(self.inner.delete(keys), no_bucket).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        self.faults.around(self.inner.list(prefix, cursor), no_bucket).await
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        self.inner.presign(key, direct)
    }
}
