//! What the queues trigger.

use ledge_core::ids::JobId;
use ledge_core::ports::Platform;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod workers;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledge it: the job is done, dead, or somebody else's.
    Done,
    /// Deliver it again after so many seconds.
    Retry {
        /// The delay.
        after_secs: u32,
    },
}

/// Works on the job that a message names.
pub async fn run<P: Platform>(platform: &P, job: &JobId) -> Outcome {
    let _ = (platform, job);
    Outcome::Done
}
