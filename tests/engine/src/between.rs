//! Lets something happen between what a request reads and its commit.

use std::cell::RefCell;

use http::Request;
use ledge_core::ports::{Db, DbError, Platform, Ports, Rows, Statement};

use crate::{Answer, Drive};

/// A database in which others write just before the first guarded batch.
#[derive(Debug)]
pub struct Between<'a, T> {
    inner: &'a T,
    others: &'a RefCell<Vec<Statement>>,
}

/// A platform with such a database.
pub type Raced<'a, P> = Ports<
    Between<'a, <P as Platform>::Db>,
    &'a <P as Platform>::Bucket,
    &'a <P as Platform>::Queue,
    &'a <P as Platform>::Host,
>;

/// The platform, where `others` is written once, just before the first guarded batch.
pub fn race<'a, P: Platform>(inner: &'a P, others: &'a RefCell<Vec<Statement>>) -> Raced<'a, P> {
    Ports {
        db: Between { inner: inner.db(), others },
        bucket: inner.bucket(),
        queue: inner.queue(),
        host: inner.host(),
        settings: inner.settings().clone(),
    }
}

/// Sends a request; the statement runs just before its commit.
pub async fn send_while(drive: &Drive, happens: Statement, request: Request<&'static [u8]>) -> Answer {
    let others = RefCell::new(vec![happens]);
    drive.send(&race(drive.plain(), &others), request).await
}

impl<T: Db> Db for Between<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.inner.read(batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        if batch.iter().any(|statement| statement.sql.starts_with("insert into guard")) {
            let others = self.others.take();
            if !others.is_empty() {
                self.inner.write(others).await?;
            }
        }
        self.inner.write(batch).await
    }
}
