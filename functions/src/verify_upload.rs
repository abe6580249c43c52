//! Verifies the segments that a client has put into the bucket.

use ledge_core::delta::direct;
use ledge_core::error::Result;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;

/// One segment a step; the last step enters all of them into the index.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, upload: &str) -> Result<Step> {
    direct::step(platform, job, upload).await
}
