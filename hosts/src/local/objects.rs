//! Where objects are: in a folder of this machine, or in an S3 bucket.

use std::ops::Range;
use std::path::Path;

use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, BucketError, Direct, ListPage, Presigned};

use super::open::OpenError;
use super::{Folder, HttpClient};
use crate::s3::{S3, S3Settings};

/// The native host's bucket. Clones share it.
#[derive(Debug, Clone)]
pub enum Objects {
    /// Files under the folder of data.
    Folder(Folder),
    /// A bucket elsewhere.
    S3(S3<HttpClient>),
}

impl Objects {
    /// The S3 bucket, if there is one; else `objects` in the folder of data.
    ///
    /// # Errors
    /// The folder can't be created or read.
    pub fn open(data_dir: &Path, bucket: Option<&S3Settings>) -> Result<Self, OpenError> {
        if let Some(settings) = bucket {
            let client = HttpClient::new(settings.endpoint.scheme() == "https");
            let client = client.map_err(|source| OpenError::Certificates { source })?;
            return Ok(Self::S3(S3::new(settings, client)));
        }
        let folder = Folder::open(data_dir.join("objects"), data_dir.join("incoming"));
        let in_folder = |source| OpenError::Folder { path: data_dir.to_owned(), source };
        folder.map(Self::Folder).map_err(in_folder)
    }
}

impl Bucket for Objects {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        match self {
            Self::Folder(folder) => folder.get(key, range).await,
            Self::S3(bucket) => bucket.get(key, range).await,
        }
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        match self {
            Self::Folder(folder) => folder.put(key, bytes, sha256).await,
            Self::S3(bucket) => bucket.put(key, bytes, sha256).await,
        }
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        match self {
            Self::Folder(folder) => folder.delete(keys).await,
            Self::S3(bucket) => bucket.delete(keys).await,
        }
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        match self {
            Self::Folder(folder) => folder.list(prefix, cursor).await,
            Self::S3(bucket) => bucket.list(prefix, cursor).await,
        }
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        match self {
            Self::Folder(folder) => folder.presign(key, direct),
            Self::S3(bucket) => bucket.presign(key, direct),
        }
    }
}
