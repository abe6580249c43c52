//! Removes uploads in parts that were abandoned, and what is remembered of finished ones.

use ledge_core::error::Result;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;
use ledge_core::uploads;
use serde_json::Value;

/// So many at once: their rows, and those of their pages, go in one batch.
const UPLOADS: u64 = 100;

/// A step, until there are none. Each is a batch of its own, and is done however often it is begun.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let removed = uploads::expire(platform, UPLOADS).await?;
    let mut progress = job.progress;
    progress.items_done += removed;
    if removed == 0 {
        return Ok(Step::Done { progress, result: Value::Null });
    }
    Ok(Step::More { progress, checkpoint: Value::Null, after_secs: 0 })
}
