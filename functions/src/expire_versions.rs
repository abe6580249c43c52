//! Removes the versions that policies keep no longer, of files that nobody saves.

use ledge_core::error::Error;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;
use ledge_core::versions;

/// The next files.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed) -> Result<Step, Error> {
    versions::expire_step(platform, job).await
}
