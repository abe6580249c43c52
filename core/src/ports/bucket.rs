//! `Bucket`: immutable objects by key.

use std::fmt;
use std::ops::Range;

use super::Timestamp;
use crate::digest::Sha256;

/// An object store, S3's common ground.
///
/// # Contract
/// - After `put` returns Ok, the whole object is durable and every later `get` and `list` sees it. An object
///   is never visible in part.
/// - A `put` that fails with [`BucketError::Unavailable`] may have stored the object.
/// - `put` verifies `sha256` against what arrived and stores nothing where they differ.
/// - Ledge never puts two different contents under one key, so implementations need no ordering between them.
/// - `delete` succeeds for keys that don't exist; it takes any number of keys and splits them itself.
/// - `list` gives keys in the order of their bytes.
/// - Keys that Ledge makes are ASCII, at most 1,024 bytes, and hold no empty, `.` or `..` segment. Those of others' objects, which
///   are only listed and read, may be any text.
pub trait Bucket {
    /// The bytes `range` of an object; for small, bounded reads inside core. Content on its way to a client goes
    /// through [`super::Host::open`] instead.
    ///
    /// # Errors
    /// [`BucketError::NotFound`]; [`BucketError::OutOfRange`] where the object ends before the range does.
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError>;

    /// Like [`Self::get`], of the object as it was listed with this entity tag: for objects that others may change.
    ///
    /// # Errors
    /// [`BucketError::Changed`] where there is another one by now, or none.
    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError>;

    /// An object's entity tag, as [`Listed::etag`] has it: not every store lists them.
    async fn etag(&self, key: &str) -> Result<String, BucketError>;

    /// Stores an object.
    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError>;

    /// Removes objects.
    async fn delete(&self, keys: &[String]) -> Result<(), BucketError>;

    /// One page of at most 1,000 objects whose keys begin with `prefix`; `cursor` is the last page's `next`.
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError>;

    /// A request that does this without Ledge, for whoever has it, within [`PRESIGNED_SECS`]; None where the bucket knows
    /// no such thing. Nothing is asked of the bucket.
    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned>;
}

/// How long a presigned request may be begun.
pub const PRESIGNED_SECS: i64 = 15 * 60;

/// What somebody may do with an object, directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direct<'a> {
    /// Read it, or parts of it. The bucket answers with these headers.
    Get {
        /// `Content-Type`.
        media_type: &'a str,
        /// `Content-Disposition`.
        disposition: &'a str,
    },
    /// Store it, once: content of this size that has this digest, where nothing is yet.
    Put {
        /// Its size.
        size_bytes: u64,
        /// Its digest.
        sha256: Sha256,
    },
}

/// A request that needs no other credentials. The URL is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Presigned {
    /// Where to.
    pub url: String,
    /// The headers that it must have.
    pub headers: Vec<(&'static str, String)>,
}

impl fmt::Debug for Presigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presigned").finish_non_exhaustive()
    }
}

/// The default bucket, with others beside it that the configuration names.
///
/// # Contract
/// - All calls of [`Bucket`] are about the default one.
/// - What [`Buckets::named`] gives is good for as long as the platform; asking for it asks nothing of the bucket.
pub trait Buckets: Bucket {
    /// One of the others.
    type Named: Bucket;

    /// The bucket that the configuration calls so; None where it names none so.
    fn named(&self, name: &str) -> Option<Self::Named>;

    /// The names of all but the default one, in order.
    fn names(&self) -> Vec<String>;
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListPage {
    /// The objects, in the order of their keys' bytes.
    pub objects: Vec<Listed>,
    /// Where the next page begins, or None at the end. Opaque.
    pub next: Option<String>,
}

/// One object of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its entity tag in the bucket's own form, which is opaque; another one for each content. None: the listing has none.
    pub etag: Option<String>,
    /// When it was stored.
    pub stored_at: Timestamp,
}

/// Why a bucket operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// No object has this key.
    #[error("no object {0}")]
    NotFound(String),
    /// The object ends before the range does.
    #[error("object {0} is shorter than the range asked for")]
    OutOfRange(String),
    /// The object isn't the one that was listed.
    #[error("object {0} isn't the one that was listed: it was changed, or removed")]
    Changed(String),
    /// The bytes that arrived are not the ones that were sent.
    #[error("object {0} arrived damaged")]
    Damaged(String),
    /// The configuration has no bucket of this name.
    #[error("the bucket {0} isn't configured")]
    NotConfigured(String),
    /// The bucket can't be reached, or refused. A `put` may have taken effect.
    #[error("the bucket is unavailable: {0}")]
    Unavailable(String),
}

impl<T: Bucket> Bucket for &T {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        (**self).get(key, range).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        (**self).get_unchanged(key, etag, range).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        (**self).etag(key).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        (**self).put(key, bytes, sha256).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        (**self).delete(keys).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        (**self).list(prefix, cursor).await
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        (**self).presign(key, direct)
    }
}

impl<T: Buckets> Buckets for &T {
    type Named = T::Named;

    fn named(&self, name: &str) -> Option<T::Named> {
        (**self).named(name)
    }

    fn names(&self) -> Vec<String> {
        (**self).names()
    }
}
