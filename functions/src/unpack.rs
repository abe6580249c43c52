//! Unpacks a ZIP file into a folder.

use ledge_core::error::Result;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;
use ledge_core::unzip::{self, Wanted};

/// So many entries a step: each takes up to seven calls to database and bucket, and a worker begins no step after a hundred.
const ENTRIES: usize = 8;

/// A few entries. Each file is one commit with the checkpoint behind it.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, wanted: &Wanted) -> Result<Step> {
    unzip::step(platform, job, wanted, ENTRIES).await
}
