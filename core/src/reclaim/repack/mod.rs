//! Repacking: the living parts of mostly dead segments go into a new one, and the old ones are doomed.
//!
//! The pages that name an old segment are changed in place, in one guarded batch: a page keeps its id, its length and its
//! bytes, only where they are changes. So blobs, versions and entity tags are untouched, whoever shares the page. Chunks
//! that lie in the living parts move along; the others are found in the old segment until it goes, and a commit that
//! refers to one revives it. Readers that hold an older plan have the full grace time.

mod measure;
mod pack;
mod swap;

use super::Limits;
use crate::error::{Error, Result};
use crate::ingest::Ingest;
use crate::manifest;
use crate::ports::{Bucket, Db, DbError, Host, Platform, Statement};
use measure::{Measured, measure};
use pack::{Packed, pack};

/// How long a repack may take before what it has stored counts as abandoned.
const TTL_SECS: i64 = 60 * 60;

/// What a step has done.
pub(super) struct Repacked {
    /// Segments whose living parts are elsewhere now.
    pub(super) repacked: u64,
    /// Behind which candidate to go on; None at the end.
    pub(super) next: Option<u64>,
}

/// Measures the next candidates behind `after` and packs those together of which little is in use. Up to seven round
/// trips, a bucket operation for each segment and one for all.
pub(super) async fn repack<P: Platform>(platform: &P, after: u64, limits: &Limits) -> Result<Repacked> {
    let Measured { victims, settled, next } = measure(platform, after, limits).await?;
    let mut done = settled;
    let mut repacked = 0;
    if !victims.is_empty() {
        match pack(platform, &victims).await? {
            Packed::Whole(packed) => repacked = store(platform, &packed).await?,
            // Somebody has changed the pages meanwhile: the next sweep measures again.
            Packed::Changed => {}
            // Copying it on would only hide the damage.
            Packed::Damaged(segment) => {
                platform
                    .host()
                    .report(&format!("segment {segment} is missing or damaged, and isn't repacked"));
                done.push(segment);
            }
        }
    }
    forget(platform, &done).await?;
    Ok(Repacked { repacked, next })
}

/// Puts the new segment under an ingest of its own and commits; returns how many segments it replaces.
async fn store<P: Platform>(platform: &P, packed: &pack::New) -> Result<u64> {
    let host = platform.host();
    let open = Ingest::open_for_repack(host, host.now().plus_secs(TTL_SECS), packed.bucket);
    let rows = platform.db().write(vec![open]).await?.pop().unwrap_or_default();
    let row = rows.first().ok_or_else(|| Error::Internal("an ingest without a row".to_owned()))?;
    let ingest = Ingest::read(row)?;
    let sha256 = host.sha256(&packed.bytes).await;
    ingest.may_put(host.now())?;
    let bucket = platform.bucket_of(ingest.bucket_name())?;
    bucket.put(&ingest.segment_key(0), &packed.bytes, sha256).await?;
    let batch = swap::statements(packed, &ingest, host.now())?;
    match platform.db().write(batch).await {
        Ok(_) => Ok(packed.victims.len() as u64),
        Err(DbError::Violated(_)) => {
            super::discard(platform, ingest.id, &ingest.key, None, &Limits::default()).await?;
            Ok(0)
        }
        // It may have happened. Else the ingest expires.
        Err(error) => Err(error.into()),
    }
}

async fn forget<P: Platform>(platform: &P, segments: &[u64]) -> Result<()> {
    if !segments.is_empty() {
        let forget = "delete from repack_candidates where segment in (select value from json_each(?1))";
        platform.db().write(vec![Statement::new(forget).bind(manifest::to_json(&segments)?)]).await?;
    }
    Ok(())
}
