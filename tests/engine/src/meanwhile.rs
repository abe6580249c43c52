//! Something that happens between what a request reads and what it commits.

use std::cell::RefCell;

use http::Request;
use ledge_core::ports::{Db, DbError, Platform, Ports, Rows, Statement};

use crate::{Answer, Drive};

/// A database in which something happens just before the next write.
struct Meanwhile<'a, T> {
    inner: &'a T,
    happens: RefCell<Vec<Statement>>,
}

impl<T: Db> Db for Meanwhile<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.inner.read(batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        let happens = self.happens.take();
        self.inner.write(happens).await?;
        self.inner.write(batch).await
    }
}

/// Sends a request; the statement runs just before its first write.
pub async fn send_while(drive: &Drive, happens: Statement, request: Request<&'static [u8]>) -> Answer {
    let plain = drive.plain();
    let db = Meanwhile { inner: plain.db(), happens: RefCell::new(vec![happens]) };
    let platform = Ports { db, bucket: plain.bucket(), queue: plain.queue(), host: plain.host() };
    drive.send(&platform, request).await
}
