//! Makes a copy that was too large for one commit.

use ledge_core::error::Error;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::nodes::{self, CopyLimits, Large};
use ledge_core::ports::Platform;

/// The members of a few folders; in the end the copy gets its place. Where the job ends otherwise, a trigger has what was
/// built removed.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, large: &Large) -> Result<Step, Error> {
    nodes::copy_step(platform, job, large, CopyLimits::default()).await
}
