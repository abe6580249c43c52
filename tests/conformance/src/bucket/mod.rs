//! `Bucket`.

mod keys;
mod listing;
mod objects;

use anyhow::Result;
use ledge_core::ports::{Bucket, Listed};

use crate::Report;

/// Where all of the suite's objects lie.
pub(crate) const PREFIX: &str = "conformance/";

pub(crate) async fn check(bucket: &impl Bucket, report: &mut Report) {
    objects::check(bucket, report).await;
    keys::check(bucket, report).await;
    listing::check(bucket, report).await;
    report.note("bucket", "everything_can_be_removed", clear(bucket).await);
}

/// Everything below a prefix, over all pages.
pub(crate) async fn all(bucket: &impl Bucket, prefix: &str) -> Result<Vec<Listed>> {
    let mut objects = Vec::new();
    let mut cursor = None;
    loop {
        let page = bucket.list(prefix, cursor.as_deref()).await?;
        objects.extend(page.objects);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(objects);
        }
    }
}

pub(crate) async fn clear(bucket: &impl Bucket) -> Result<()> {
    let keys: Vec<String> = all(bucket, PREFIX).await?.into_iter().map(|object| object.key).collect();
    bucket.delete(&keys).await?;
    anyhow::ensure!(all(bucket, PREFIX).await?.is_empty());
    Ok(())
}
