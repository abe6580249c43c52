//! Removes what an upload that failed has stored.

use ledge_core::error::Result;
use ledge_core::ingest;
use ledge_core::jobs::Step;
use ledge_core::ports::{Bucket, Db, Platform, Statement};

/// First makes sure that no commit can come any more, then removes the segments, and the row last: whoever is cut off in
/// between is found and finished by the next attempt or by the sweep. An ingest without a row was committed: its
/// segments are in use.
pub(crate) async fn run<P: Platform>(platform: &P, ingest: u64, key: &str) -> Result<Step> {
    // The guard of a commit wants an ingest that hasn't expired.
    let expire = Statement::new("update ingests set expires_at = 0 where id = ?1 and key = ?2 returning id")
        .bind(ingest)
        .bind(key);
    let expired = platform.db().write(vec![expire]).await?;
    if expired.iter().all(Vec::is_empty) {
        return Ok(Step::done());
    }
    let mut cursor = None;
    loop {
        let page = platform.bucket().list(&ingest::prefix(key), cursor.as_deref()).await?;
        let keys: Vec<String> = page.objects.into_iter().map(|object| object.key).collect();
        platform.bucket().delete(&keys).await?;
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let remove = Statement::new("delete from ingests where id = ?1 and expires_at = 0").bind(ingest);
    platform.db().write(vec![remove]).await?;
    Ok(Step::done())
}
