//! The four ports: everything that core needs from the outside.
//!
//! A host implements them once; wrappers (`crate::wrappers`) implement them around an implementation. The
//! conformance suite in `tests/conformance` holds every implementation to the contracts written here.
//! Futures are not `Send`: every host runs a request on one thread.

mod bucket;
mod db;
mod host;
mod queue;
mod upload;

pub use bucket::{Bucket, BucketError, Buckets, Direct, ListPage, Listed, PRESIGNED_SECS, Presigned};
pub use db::{Db, DbError, Row, Rows, Statement, Value};
pub use host::{Host, Timestamp};
pub use queue::{Lane, Queue, QueueError};
pub use upload::{Upload, UploadError};

use std::rc::Rc;

use crate::settings::Settings;
use crate::wrappers::Either;

/// The default bucket, or another one.
pub type One<'a, B> = Either<&'a B, <B as Buckets>::Named>;

/// One host's four ports under one name, so that a use case has a single type parameter.
pub trait Platform {
    /// Metadata.
    type Db: Db;
    /// Content.
    type Bucket: Buckets;
    /// Wake-ups for background work.
    type Queue: Queue;
    /// Clock, randomness, hashing, spawning, response bodies.
    type Host: Host;

    /// The database.
    fn db(&self) -> &Self::Db;
    /// The default bucket.
    fn bucket(&self) -> &Self::Bucket;
    /// The queue.
    fn queue(&self) -> &Self::Queue;
    /// The host.
    fn host(&self) -> &Self::Host;
    /// What the operator has set.
    fn settings(&self) -> &Rc<Settings>;

    /// The bucket of that name; the default one, where there is none.
    ///
    /// # Errors
    /// [`BucketError::NotConfigured`].
    fn bucket_of(&self, name: Option<&str>) -> Result<One<'_, Self::Bucket>, BucketError> {
        let Some(name) = name else { return Ok(Either::Left(self.bucket())) };
        let named = self.bucket().named(name);
        named.map(Either::Right).ok_or_else(|| BucketError::NotConfigured(name.to_owned()))
    }
}

/// The plain way to make a [`Platform`]: the values side by side.
#[derive(Debug, Clone)]
pub struct Ports<D, B, Q, H> {
    /// Metadata.
    pub db: D,
    /// Content.
    pub bucket: B,
    /// Wake-ups.
    pub queue: Q,
    /// Clock, randomness, hashing, spawning, response bodies.
    pub host: H,
    /// What the operator has set.
    pub settings: Rc<Settings>,
}

impl<D: Db, B: Buckets, Q: Queue, H: Host> Platform for Ports<D, B, Q, H> {
    type Db = D;
    type Bucket = B;
    type Queue = Q;
    type Host = H;

    fn db(&self) -> &D {
        &self.db
    }
    fn bucket(&self) -> &B {
        &self.bucket
    }
    fn queue(&self) -> &Q {
        &self.queue
    }
    fn host(&self) -> &H {
        &self.host
    }
    fn settings(&self) -> &Rc<Settings> {
        &self.settings
    }
}
