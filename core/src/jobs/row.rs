//! Asking for work: the row, and the message after it.

use super::{Job, Work, look};
use crate::error::{Error, Result};
use crate::ids::{AccountId, JobId, SpaceId};
use crate::manifest;
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Lane, Platform, Queue, Statement, Timestamp};
use crate::token::Token;

/// Who wants it done, and so may watch it.
#[derive(Debug, Clone, Copy)]
pub enum By<'a> {
    /// The system itself: administrators watch it.
    System,
    /// Somebody.
    Account {
        /// The account, all of whose tokens may watch it.
        account: &'a AccountId,
        /// The space that it is about: tokens that are limited to it may watch it.
        space: Option<&'a SpaceId>,
        /// The token that asked: it may watch it, whatever its limits.
        token: Option<&'a Token>,
    },
}

/// A job's row, for the batch of the change that causes it. Where an unfinished job has the same
/// [`Work::unique_key`], the statement does nothing.
pub fn row(host: &impl Host, work: &Work, by: By<'_>, now: Timestamp) -> Result<(JobId, Statement)> {
    row_due(host, work, by, now, 0)
}

/// A job's row that isn't begun before `delay_secs` have passed.
pub(super) fn row_due(
    host: &impl Host,
    work: &Work,
    by: By<'_>,
    now: Timestamp,
    delay_secs: u32,
) -> Result<(JobId, Statement)> {
    let id = JobId::new(host);
    let (account, space, token) = match by {
        By::System => (None, None, None),
        By::Account { account, space, token } => (Some(account), space, token),
    };
    let row = Statement::new(
        "insert into jobs
           (id, lane, input, created_at, updated_at, due_at, unique_key, account_id, space_id, token)
         values (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9)
         on conflict do nothing",
    )
    .bind(&id)
    .bind(work.lane().name())
    .bind(manifest::to_json(work)?)
    .bind(now)
    .bind(now.plus_secs(delay_secs.into()))
    .bind(work.unique_key())
    .bind(account)
    .bind(space)
    .bind(token.map(|token| token.hash().to_string()));
    Ok((id, row))
}

/// Commits a batch that a job's [`row`] is part of, once, and wakes a worker. Not for work of which there is one at a time.
pub(crate) async fn commit<P: Platform>(
    platform: &P,
    lane: Lane,
    id: &JobId,
    batch: Vec<Statement>,
) -> Result<(), DbError> {
    let look = Statement::new("select 1 from jobs where id = ?1").bind(id);
    let happened = async || -> Result<bool, DbError> {
        Ok(platform.db().read(vec![look.clone()]).await?.iter().any(|rows| !rows.is_empty()))
    };
    write_once(platform.db(), batch, happened).await?;
    wake(platform, lane, id, 0).await;
    Ok(())
}

/// Wakes a worker for a job whose row is committed. A failure is no error: the tick wakes one later.
pub async fn wake<P: Platform>(platform: &P, lane: Lane, id: &JobId, delay_secs: u32) {
    if let Err(error) = platform.queue().send(lane, id, delay_secs).await {
        platform.host().report(&format!("job {id} waits for the next tick: {error}"));
    }
}

/// Asks for work that no other change causes, and tells how it stands: the job that is under way already, where there
/// may be one only. One round trip.
pub async fn start<P: Platform>(platform: &P, work: &Work, by: By<'_>) -> Result<Job> {
    let (id, row) = row(platform.host(), work, by, platform.host().now())?;
    let results = platform.db().write(vec![row, look::by_id_or_key(&id, work.unique_key())]).await?;
    let found = results.get(1).and_then(|rows| rows.first());
    let job = Job::read(found.ok_or_else(|| Error::Internal("a job's row was not written".to_owned()))?)?;
    wake(platform, work.lane(), &job.id, 0).await;
    Ok(job)
}
