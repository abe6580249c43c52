//! Removes what an upload that failed has stored.

use ledge_core::error::Result;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;
use ledge_core::reclaim::{Limits, discard};
use serde_json::Value;

/// The checkpoint is where the listing of its objects goes on.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, ingest: u64, key: &str) -> Result<Step> {
    let cursor = job.checkpoint.as_str().map(str::to_owned);
    let emptied = discard(platform, ingest, key, cursor, &Limits::default()).await?;
    let mut progress = job.progress;
    progress.items_done += emptied.objects;
    progress.bytes_done += emptied.bytes;
    Ok(match emptied.rest {
        None => Step::Done { progress, result: Value::Null },
        Some(cursor) => Step::More { progress, checkpoint: Value::String(cursor), after_secs: 0 },
    })
}
