//! What the queues trigger: claim the job that a message names, do its work, note what became of it.
//!
//! Messages arrive at least once, and a worker may be cut off at any point: all work is safe to repeat.

mod discard_ingest;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod workers;

use ledge_core::error::Error;
use ledge_core::ids::JobId;
use ledge_core::jobs::{self, Work};
use ledge_core::ports::Platform;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledge it: the job is done, given up, or nobody's.
    Done,
    /// Deliver it again after so many seconds.
    Retry {
        /// The delay.
        after_secs: u32,
    },
}

/// How long to wait where not even the job's row can be reached.
const DATABASE_RETRY_SECS: u32 = 30;

/// Works on the job that a message names.
pub async fn run<P: Platform>(platform: &P, job: &JobId) -> Outcome {
    match attempt(platform, job).await {
        Ok(None) => Outcome::Done,
        Ok(Some(after_secs)) => Outcome::Retry { after_secs },
        Err(_) => Outcome::Retry { after_secs: DATABASE_RETRY_SECS },
    }
}

/// One attempt; the seconds to the next one where it failed.
async fn attempt<P: Platform>(platform: &P, job: &JobId) -> Result<Option<u32>, Error> {
    let Some(claimed) = jobs::claim(platform, job).await? else { return Ok(None) };
    let worked = match &claimed.work {
        Work::DiscardIngest { ingest, key } => discard_ingest::run(platform, *ingest, key).await,
    };
    match worked {
        Ok(()) => jobs::done(platform, &claimed).await.map(|()| None),
        Err(error) => jobs::failed(platform, &claimed, &error.to_string()).await,
    }
}
