//! Removes what an upload that failed has stored.

use ledge_core::error::Result;
use ledge_core::jobs::{Claimed, Progress, Step};
use ledge_core::ports::Platform;
use ledge_core::reclaim::{Limits, discard};
use serde_json::Value;

/// The checkpoint is where the listing of its objects goes on.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, ingest: u64, key: &str) -> Result<Step> {
    let cursor = job.checkpoint.as_str().map(str::to_owned);
    Ok(match discard(platform, ingest, key, cursor, &Limits::default()).await? {
        None => Step::done(),
        Some(cursor) => {
            Step::More { progress: Progress::default(), checkpoint: Value::String(cursor), after_secs: 0 }
        }
    })
}
