//! Fails on purpose, at a chosen call, before or after the call takes effect.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use crate::digest::Sha256;
use crate::ports::{Bucket, BucketError, Db, DbError, ListPage, Rows, Statement};

/// One planned failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which call fails, counted from 0 over all calls of the wrapped ports.
    pub call: u32,
    /// Whether the call takes effect.
    pub when: When,
}

/// On which side of the effect a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nothing happened.
    Before,
    /// It happened, but the answer is lost.
    After,
}

/// A schedule of failures, shared by the ports of one platform.
#[derive(Debug, Default)]
pub struct Faults {
    planned: RefCell<Vec<Fault>>,
    calls: Cell<u32>,
}

impl Faults {
    /// Plans one failure.
    pub fn at(call: u32, when: When) -> Self {
        Self { planned: RefCell::new(vec![Fault { call, when }]), calls: Cell::new(0) }
    }

    /// The number of calls so far: how many steps there were at which to fail.
    pub fn calls(&self) -> u32 {
        self.calls.get()
    }

    fn next(&self) -> Option<When> {
        let call = self.calls.get();
        self.calls.set(call.saturating_add(1));
        self.planned.borrow().iter().find(|fault| fault.call == call).map(|fault| fault.when)
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

async fn with_fault<T, E>(
    fault: Option<When>,
    call: impl Future<Output = Result<T, E>>,
    error: impl Fn() -> E,
) -> Result<T, E> {
    match fault {
        None => call.await,
        Some(When::Before) => Err(error()),
        Some(When::After) => {
            call.await?;
            Err(error())
        }
    }
}

fn no_database() -> DbError {
    DbError::Unavailable(INJECTED.to_owned())
}

fn no_bucket() -> BucketError {
    BucketError::Unavailable(INJECTED.to_owned())
}

impl<T: Db> Db for Faulty<'_, T> {
    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        with_fault(self.faults.next(), self.inner.read(batch), no_database).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        with_fault(self.faults.next(), self.inner.write(batch), no_database).await
    }
}

impl<T: Bucket> Bucket for Faulty<'_, T> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        with_fault(self.faults.next(), self.inner.get(key, range), no_bucket).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        with_fault(self.faults.next(), self.inner.put(key, bytes, sha256), no_bucket).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        with_fault(self.faults.next(), self.inner.delete(keys), no_bucket).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        with_fault(self.faults.next(), self.inner.list(prefix, cursor), no_bucket).await
    }
}
