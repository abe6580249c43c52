//! Gives bytes back: sweeps and full passes, a step at a time.

use ledge_core::error::{Error, Result};
use ledge_core::jobs::{Claimed, Progress, Step};
use ledge_core::ports::Platform;
use ledge_core::reclaim::{self, FullPass, Limits, Reclaimed, Sweep};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What has begun to go, what is due, uploads that have expired, candidates, what is mostly dead.
pub(crate) async fn sweep<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let at: Sweep = reclaim::sweep(platform, checkpoint(job), &Limits::default()).await?;
    step(at.is_done(), at.reclaimed, &at)
}

/// The safety net: all segments, all objects.
pub(crate) async fn full_pass<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let at: FullPass = reclaim::full_pass(platform, checkpoint(job), &Limits::default()).await?;
    step(at.is_done(), at.reclaimed, &at)
}

/// One that can't be read is another release's: all steps are safe to repeat, so it begins anew.
fn checkpoint<T: DeserializeOwned + Default>(job: &Claimed) -> T {
    T::deserialize(&job.checkpoint).unwrap_or_default()
}

fn step(is_done: bool, reclaimed: Reclaimed, at: &impl Serialize) -> Result<Step> {
    let Reclaimed { uploads, segments, bytes, repacked, orphans, .. } = reclaimed;
    let progress = Progress {
        items_done: uploads + segments + repacked + orphans,
        items_total: None,
        bytes_done: bytes,
        bytes_total: None,
    };
    Ok(if is_done {
        Step::Done { progress, result: json(&reclaimed)? }
    } else {
        Step::More { progress, checkpoint: json(at)?, after_secs: 0 }
    })
}

fn json(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|error| Error::Internal(error.to_string()))
}
