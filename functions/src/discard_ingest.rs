//! Removes what an upload that failed has stored.

use ledge_core::error::Result;
use ledge_core::ingest;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::{Bucket, Db, Platform, Statement};
use serde_json::Value;

/// An upload of a tebibyte has a hundred pages of segments: a step removes some.
const PAGES_A_STEP: u32 = 20;

/// First makes sure that no commit can come any more, then removes the segments, and the row last: whoever is cut off in
/// between is found and finished by the next attempt or by the sweep. An ingest without a row was committed: its
/// segments are in use.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, ingest: u64, key: &str) -> Result<Step> {
    // The guard of a commit wants an ingest that hasn't expired.
    let expire = Statement::new("update ingests set expires_at = 0 where id = ?1 and key = ?2 returning id")
        .bind(ingest)
        .bind(key);
    let expired = platform.db().write(vec![expire]).await?;
    if expired.iter().all(Vec::is_empty) {
        return Ok(Step::Done { progress: job.progress, result: Value::Null });
    }
    let mut progress = job.progress;
    let mut cursor = None;
    let mut pages = 0;
    loop {
        let page = platform.bucket().list(&ingest::prefix(key), cursor.as_deref()).await?;
        progress.items_done += page.objects.len() as u64;
        progress.bytes_done += page.objects.iter().map(|object| object.size_bytes).sum::<u64>();
        let keys: Vec<String> = page.objects.into_iter().map(|object| object.key).collect();
        platform.bucket().delete(&keys).await?;
        match page.next {
            None => break,
            // What is listed next is what is left.
            Some(_) if pages >= PAGES_A_STEP => {
                return Ok(Step::More { progress, checkpoint: Value::Null, after_secs: 0 });
            }
            Some(next) => cursor = Some(next),
        }
        pages += 1;
    }
    let remove = Statement::new("delete from ingests where id = ?1 and expires_at = 0").bind(ingest);
    platform.db().write(vec![remove]).await?;
    Ok(Step::Done { progress, result: Value::Null })
}
