//! Empties all spaces' trashes of what has been there for too long.

use ledge_core::error::Error;
use ledge_core::jobs::{Claimed, Step};
use ledge_core::ports::Platform;
use ledge_core::trash;

/// A piece of what it has taken out of a trash, or the next trash.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed) -> Result<Step, Error> {
    trash::expire_step(platform, job).await
}
