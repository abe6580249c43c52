//! From spin.toml to the four ports.

use std::rc::Rc;

use ledge_core::ports::{DbError, Ports};
use ledge_core::settings::{SettingError, Settings};

use super::variables::{Variables, own};
use super::{Messages, Outbound, SpinHost, Sqlite};
use crate::buckets::{BucketSettings, Configured, Entry};
use crate::s3::S3;

/// The four ports of one request.
pub type Spin = Ports<Sqlite, Configured<S3<Outbound>>, Messages, SpinHost>;

/// Where the gateway finds the functions component, unless `ledge_jobs_url` says so: Spin passes requests on within the
/// application under this name.
const JOBS_URL: &str = "http://functions.spin.internal/internal/jobs/run";

/// What uploads may take of an instance's memory unless the operator says otherwise: it fits where an instance has 64 MiB.
const UPLOAD_MEMORY_BYTES: usize = 24 << 20;

/// Why a component can't work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A variable whose value is missing or can't be used.
    #[error("{} in spin.toml, {}: {}", .0.name.to_lowercase(), .0.name, .0.reason)]
    Setting(#[from] SettingError),
    /// No bucket is set.
    #[error("no bucket: set ledge_s3_endpoint, ledge_s3_bucket and the keys")]
    NoBucket,
    /// The database can't be opened, or not be brought up to date.
    #[error("the database can't be used: {0}")]
    Database(#[from] DbError),
}

/// Makes the ports for one request to the gateway.
///
/// # Errors
/// A [`SetupError`] says what is missing.
pub async fn gateway() -> Result<Spin, SetupError> {
    let url = own("ledge_jobs_url").await;
    let url = if url.is_empty() { JOBS_URL.to_owned() } else { url };
    ports(Messages::to(url, own("ledge_jobs_secret").await)).await
}

/// Makes the ports for one request to the functions component, if it comes from one who knows the secret.
///
/// # Errors
/// As [`gateway`].
pub async fn functions(secret: &[u8]) -> Result<Option<Spin>, SetupError> {
    let expected = own("ledge_jobs_secret").await;
    if expected.is_empty() || !are_equal(expected.as_bytes(), secret) {
        return Ok(None);
    }
    ports(Messages::kept()).await.map(Some)
}

async fn ports(queue: Messages) -> Result<Spin, SetupError> {
    let mut variables = Variables::default();
    let defaults = Settings { upload_memory_bytes: UPLOAD_MEMORY_BYTES, ..Settings::default() };
    let settings = variables.fetch(|variable| defaults.clone().or(variable)).await?;
    let buckets = variables.fetch(|variable| BucketSettings::read(variable)).await?;
    let default = buckets.default.as_ref().ok_or(SetupError::NoBucket)?;
    let named = buckets.open(|entry| match entry {
        Entry::S3(settings) => Ok(S3::new(settings, Outbound)),
        Entry::Folder(_) | Entry::Binding(_) => Err("on Spin a bucket is an S3 bucket".to_owned()),
    })?;
    let bucket = Configured::new(S3::new(default, Outbound), named);
    Ok(Ports {
        db: Sqlite::open().await?,
        bucket: bucket.clone(),
        queue,
        host: SpinHost::new(bucket),
        settings: Rc::new(settings),
    })
}

/// In a time that depends on the length only.
fn are_equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}
