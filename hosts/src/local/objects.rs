//! Where objects are: in folders of this machine, or in S3 buckets.

use std::path::Path;

use ledge_core::wrappers::Either;

use super::open::OpenError;
use super::{Folder, HttpClient};
use crate::buckets::{BucketSettings, Configured, Entry};
use crate::s3::{S3, S3Settings};

/// One of the native host's buckets. Clones share it.
pub type Objects = Either<Folder, S3<HttpClient>>;

/// All of them.
pub type LocalBuckets = Configured<Objects>;

/// The buckets that the settings name. The default one is the S3 bucket, if there is one; else `objects` in the folder of
/// data.
///
/// # Errors
/// A folder can't be created or read; an entry is for another host.
pub fn open_buckets(data_dir: &Path, settings: &BucketSettings) -> Result<LocalBuckets, OpenError> {
    let default = match &settings.default {
        Some(settings) => remote(settings)?,
        None => folder(data_dir).map_err(|source| OpenError::Folder { path: data_dir.to_owned(), source })?,
    };
    let named = settings.open(|entry| match entry {
        Entry::S3(settings) => remote(settings).map_err(|error| error.to_string()),
        Entry::Folder(path) => folder(Path::new(path)).map_err(|error| format!("folder {path}: {error}")),
        Entry::Binding(_) => Err("only Workers have bindings".to_owned()),
    })?;
    Ok(Configured::new(default, named))
}

fn folder(path: &Path) -> std::io::Result<Objects> {
    Folder::open(path.join("objects"), path.join("incoming")).map(Either::Left)
}

fn remote(settings: &S3Settings) -> Result<Objects, OpenError> {
    let client = HttpClient::new(settings.endpoint.scheme() == "https");
    let client = client.map_err(|source| OpenError::Certificates { source })?;
    Ok(Either::Right(S3::new(settings, client)))
}
