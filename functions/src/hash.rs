//! Makes the checksums of imported content that somebody waits for.

use ledge_core::error::Result;
use ledge_core::imports;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;

/// A few objects, or a part of a large one.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    imports::hash_step(platform, job).await
}
