//! One of two buckets: of what kind a bucket is, shows at run time only.
//!
//! The futures of the two are boxed: those of a request lie in one another more than a hundred deep, and a box ends that.

use std::ops::Range;

use futures::FutureExt;

use crate::digest::Sha256;
use crate::ports::{Bucket, BucketError, Direct, ListPage, Presigned};

/// Passes each call on to the one that it is.
#[derive(Debug, Clone)]
pub enum Either<A, B> {
    /// The one kind.
    Left(A),
    /// The other.
    Right(B),
}

impl<A: Bucket, B: Bucket> Bucket for Either<A, B> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        match self {
            Self::Left(bucket) => bucket.get(key, range).boxed_local().await,
            Self::Right(bucket) => bucket.get(key, range).boxed_local().await,
        }
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        match self {
            Self::Left(bucket) => bucket.get_unchanged(key, etag, range).boxed_local().await,
            Self::Right(bucket) => bucket.get_unchanged(key, etag, range).boxed_local().await,
        }
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        match self {
            Self::Left(bucket) => bucket.etag(key).boxed_local().await,
            Self::Right(bucket) => bucket.etag(key).boxed_local().await,
        }
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        match self {
            Self::Left(bucket) => bucket.put(key, bytes, sha256).boxed_local().await,
            Self::Right(bucket) => bucket.put(key, bytes, sha256).boxed_local().await,
        }
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        match self {
            Self::Left(bucket) => bucket.delete(keys).boxed_local().await,
            Self::Right(bucket) => bucket.delete(keys).boxed_local().await,
        }
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        match self {
            Self::Left(bucket) => bucket.list(prefix, cursor).boxed_local().await,
            Self::Right(bucket) => bucket.list(prefix, cursor).boxed_local().await,
        }
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        match self {
            Self::Left(bucket) => bucket.presign(key, direct),
            Self::Right(bucket) => bucket.presign(key, direct),
        }
    }
}
