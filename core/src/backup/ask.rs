//! Asking for a dump.

use crate::auth::{self, Right};
use crate::error::Result;
use crate::jobs::{self, By, Job, Work};
use crate::ports::{Db, Host, Platform};
use crate::token::Token;

/// Has a dump made: the job that makes it, which may be under way already. For administrators. Two round trips.
pub async fn ask<P: Platform>(platform: &P, token: &Token) -> Result<Job> {
    start_as_admin(platform, token, &Work::Backup).await
}

/// Has work of the whole drive done, for an administrator.
pub(crate) async fn start_as_admin<P: Platform>(platform: &P, token: &Token, work: &Work) -> Result<Job> {
    let look_up = auth::look_up_admin(token, platform.host().now());
    let results = platform.db().read(vec![look_up]).await?;
    let account = auth::authorise_admin(results.first().and_then(|rows| rows.first()), Right::Write)?;
    let by = By::Account { account: &account, space: None, token: Some(token) };
    jobs::start(platform, work, by).await
}
