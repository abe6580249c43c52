//! Removes what a purge was too large for.

use ledge_core::error::Error;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;
use ledge_core::trash::{self, Rest};

/// A piece; what it hid is gone for everybody since the purge's own commit.
pub(crate) async fn run<P: Platform>(
    platform: &P,
    job: &Claimed,
    rest: Option<&Rest>,
) -> Result<Step, Error> {
    trash::purge_step(platform, job, rest, trash::PIECE).await
}
