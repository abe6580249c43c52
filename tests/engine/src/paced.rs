//! A database that waits for a sign before each batch, so that a test decides what happens between two of them.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

use ledge_core::ports::{Db, DbError, Platform, Ports, Rows, Statement};

/// One client's sign, and what its last batch was.
#[derive(Debug, Default)]
pub struct Pace {
    may_go: Cell<bool>,
    waits: Cell<bool>,
    last: Cell<Option<Batch>>,
}

/// A batch that has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// It read.
    Read,
    /// It wrote.
    Written,
    /// It was refused, and wrote nothing.
    Refused,
}

impl Pace {
    /// Lets one batch run.
    pub fn let_go(&self) {
        self.may_go.set(true);
    }

    /// Whether the client waits for its sign.
    pub fn waits(&self) -> bool {
        self.waits.get()
    }

    /// The batch that has run since this was last asked.
    pub fn take(&self) -> Option<Batch> {
        self.last.take()
    }

    async fn sign(&self) {
        poll_fn(|_| {
            self.waits.set(!self.may_go.get());
            if self.may_go.take() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// The database with a pace.
#[derive(Debug)]
pub struct PacedDb<'a, T> {
    inner: &'a T,
    pace: &'a Pace,
}

/// A platform whose database has a pace.
pub type Paced<'a, P> = Ports<
    PacedDb<'a, <P as Platform>::Db>,
    &'a <P as Platform>::Bucket,
    &'a <P as Platform>::Queue,
    &'a <P as Platform>::Host,
>;

/// The platform, with a pace.
pub fn pace<'a, P: Platform>(inner: &'a P, pace: &'a Pace) -> Paced<'a, P> {
    Ports {
        db: PacedDb { inner: inner.db(), pace },
        bucket: inner.bucket(),
        queue: inner.queue(),
        host: inner.host(),
        settings: inner.settings().clone(),
    }
}

impl<T: Db> Db for PacedDb<'_, T> {
    type Detached = T::Detached;

    /// Bodies are none of a client's batches.
    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.pace.sign().await;
        self.pace.last.set(Some(Batch::Read));
        self.inner.read(batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.pace.sign().await;
        let written = self.inner.write(batch).await;
        self.pace.last.set(Some(if written.is_ok() { Batch::Written } else { Batch::Refused }));
        written
    }
}
