//! Makes files of the objects in a bucket.

use ledge_core::error::Result;
use ledge_core::imports;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;

/// A page of the bucket's listing.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    imports::step(platform, job).await
}
