//! Records every statement that a platform runs.

use std::cell::RefCell;

use ledge_core::ports::{Db, DbError, Platform, Ports, Rows, Statement};

/// A database that remembers what it was asked.
#[derive(Debug)]
pub struct Recording<'a, T> {
    inner: &'a T,
    statements: &'a RefCell<Vec<Statement>>,
}

/// A platform whose statements are recorded.
pub type Recorded<'a, P> = Ports<
    Recording<'a, <P as Platform>::Db>,
    &'a <P as Platform>::Bucket,
    &'a <P as Platform>::Queue,
    &'a <P as Platform>::Host,
>;

/// The platform, with its statements recorded.
pub fn record<'a, P: Platform>(inner: &'a P, statements: &'a RefCell<Vec<Statement>>) -> Recorded<'a, P> {
    Ports {
        db: Recording { inner: inner.db(), statements },
        bucket: inner.bucket(),
        queue: inner.queue(),
        host: inner.host(),
        settings: inner.settings().clone(),
    }
}

impl<T: Db> Db for Recording<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.statements.borrow_mut().extend(batch.iter().cloned());
        self.inner.read(batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.statements.borrow_mut().extend(batch.iter().cloned());
        self.inner.write(batch).await
    }
}
