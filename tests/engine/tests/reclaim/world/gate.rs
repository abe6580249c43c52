//! Each call of a port waits for a sign: it may go on, or fail before or after it takes effect. Whoever is dropped while it
//! waits has died; its call can still take effect later, as one that was on its way.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;

use ledge_core::digest::Sha256;
use ledge_core::ports::{
    Bucket, BucketError, Buckets, Db, DbError, Direct, Host, ListPage, Presigned, Rows, Statement, Timestamp,
};

use super::{Machine, Objects};

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Go,
    FailBefore,
    FailAfter,
}

/// A call that waits.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Read,
    Write(Vec<Statement>),
    Get,
    Put(String, Vec<u8>),
    Delete(Vec<String>),
    List,
}

/// Where somebody's calls wait.
#[derive(Debug)]
pub(crate) struct Gate {
    is_open: bool,
    sign: Cell<Option<Sign>>,
    waiting: RefCell<Option<(Call, Timestamp)>>,
    /// Whether a call has changed something since this was last asked.
    changed: Cell<bool>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { is_open: false, sign: Cell::new(None), waiting: RefCell::new(None), changed: Cell::new(false) }
    }

    /// One at which nobody waits.
    pub(crate) fn open() -> Self {
        Self { is_open: true, ..Self::new() }
    }

    pub(crate) fn give(&self, sign: Sign) {
        self.sign.set(Some(sign));
    }

    /// The call that waits, and since when.
    pub(crate) fn waiting(&self) -> Option<(Call, Timestamp)> {
        self.waiting.borrow().clone()
    }

    /// Whoever waited is gone; what they waited for.
    pub(crate) fn forget(&self) -> Option<(Call, Timestamp)> {
        self.sign.take();
        self.changed.take();
        self.waiting.borrow_mut().take()
    }

    /// What waits, by name.
    pub(crate) fn kind(&self) -> &'static str {
        match &*self.waiting.borrow() {
            None => "nothing",
            Some((Call::Read, _)) => "read",
            Some((Call::Write(_), _)) => "write",
            Some((Call::Get, _)) => "get",
            Some((Call::Put(..), _)) => "put",
            Some((Call::Delete(_), _)) => "delete",
            Some((Call::List, _)) => "list",
        }
    }

    pub(crate) fn has_changed(&self) -> bool {
        self.changed.take()
    }

    async fn pass<T, E>(
        &self,
        call: Call,
        now: Timestamp,
        effect: impl Future<Output = Result<T, E>>,
        error: impl Fn() -> E,
    ) -> Result<T, E> {
        let changes = matches!(call, Call::Write(_) | Call::Put(..) | Call::Delete(_));
        let sign = if self.is_open {
            Sign::Go
        } else {
            *self.waiting.borrow_mut() = Some((call, now));
            poll_fn(|_| self.sign.take().map_or(Poll::Pending, Poll::Ready)).await
        };
        self.waiting.borrow_mut().take();
        if sign == Sign::FailBefore {
            return Err(error());
        }
        self.changed.set(self.changed.get() | changes);
        let done = effect.await;
        if sign == Sign::FailAfter && done.is_ok() {
            return Err(error());
        }
        done
    }
}

/// A port with a gate.
pub(crate) struct Gated<'a, T> {
    inner: &'a T,
    gate: &'a Gate,
    host: &'a Machine,
}

impl<'a, T> Gated<'a, T> {
    pub(crate) fn new(inner: &'a T, gate: &'a Gate, host: &'a Machine) -> Self {
        Self { inner, gate, host }
    }
}

fn no_database() -> DbError {
    DbError::Unavailable("injected".to_owned())
}

fn no_bucket() -> BucketError {
    BucketError::Unavailable("injected".to_owned())
}

impl<T: Db> Db for Gated<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.gate.pass(Call::Read, self.host.now(), self.inner.read(batch), no_database).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        let call = Call::Write(batch.clone());
        self.gate.pass(call, self.host.now(), self.inner.write(batch), no_database).await
    }
}

/// These have no other buckets.
impl Buckets for Gated<'_, Objects> {
    type Named = Objects;

    fn named(&self, _name: &str) -> Option<Objects> {
        None
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Bucket for Gated<'_, Objects> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.gate.pass(Call::Get, self.host.now(), self.inner.get(key, range), no_bucket).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        let got = self.inner.get_unchanged(key, etag, range);
        self.gate.pass(Call::Get, self.host.now(), got, no_bucket).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.inner.etag(key).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        let call = Call::Put(key.to_owned(), bytes.to_vec());
        self.gate.pass(call, self.host.now(), self.inner.put(key, bytes, sha256), no_bucket).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        let call = Call::Delete(keys.to_vec());
        self.gate.pass(call, self.host.now(), self.inner.delete(keys), no_bucket).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        self.gate.pass(Call::List, self.host.now(), self.inner.list(prefix, cursor), no_bucket).await
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        self.inner.presign(key, direct)
    }
}
