//! By hand: an administrator asks what would go, or for it to go.

use super::{Report, report};
use crate::auth::{self, Right};
use crate::error::Result;
use crate::jobs::{self, By, Job, Work};
use crate::ports::{Db, Host, Platform};
use crate::token::Token;

/// What a sweep would give back. Two round trips.
///
/// # Errors
/// [`crate::error::Error::AdministratorsOnly`].
pub async fn ask<P: Platform>(platform: &P, token: &Token) -> Result<Vec<Report>> {
    administers(platform, token, Right::Read).await?;
    report(platform).await
}

/// Starts a sweep, or a full pass; returns the one that is under way already, where there is one. Two round trips.
///
/// # Errors
/// [`crate::error::Error::AdministratorsOnly`].
pub async fn start<P: Platform>(platform: &P, token: &Token, full: bool) -> Result<Job> {
    administers(platform, token, Right::Write).await?;
    let work = if full { Work::ReclaimFullPass } else { Work::Reclaim };
    jobs::start(platform, &work, By::System).await
}

async fn administers<P: Platform>(platform: &P, token: &Token, right: Right) -> Result<()> {
    let look = auth::look_up_admin(token, platform.host().now());
    let rows = platform.db().read(vec![look]).await?.pop().unwrap_or_default();
    auth::authorise_admin(rows.first(), right).map(drop)
}
