//! Asking for an examination.

use crate::backup::start_as_admin;
use crate::error::Result;
use crate::jobs::{Job, Work};
use crate::ports::Platform;
use crate::token::Token;

/// Has the drive examined: the job whose result is the report, and which may be under way already. For administrators. Two
/// round trips.
pub async fn ask<P: Platform>(platform: &P, token: &Token, content: bool) -> Result<Job> {
    start_as_admin(platform, token, &Work::Doctor { content }).await
}
