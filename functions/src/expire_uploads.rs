//! Removes uploads in parts that were abandoned, and what is remembered of finished ones.

use ledge_core::error::Result;
use ledge_core::jobs::{Claimed, Progress, Step};
use ledge_core::ports::Platform;
use ledge_core::uploads;
use serde_json::Value;

/// So many at once: their rows, and those of their pages, go in one batch.
const UPLOADS: u64 = 100;

/// A step, until there are none. Each is a batch of its own, and is done however often it is begun.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let removed = uploads::expire(platform, UPLOADS).await?;
    let before = job.checkpoint.as_u64().unwrap_or(0);
    let total = before.saturating_add(removed);
    let progress = Progress { items_done: total, ..Progress::default() };
    if removed == 0 {
        return Ok(Step::Done { progress, result: Value::Null });
    }
    Ok(Step::More { progress, checkpoint: total.into(), after_secs: 0 })
}
