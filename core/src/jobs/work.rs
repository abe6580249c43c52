//! A worker's side: claim, then done or failed.

use super::{State, Work};
use crate::error::Result;
use crate::ids::JobId;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Statement};

/// After so many attempts a job is given up, for a person to look at.
const MAX_ATTEMPTS: u64 = 8;
/// The first retry comes after this long, each later one after twice as long.
const FIRST_RETRY_SECS: u32 = 10;

/// A job that a worker has taken on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// Its id.
    pub id: JobId,
    /// What to do.
    pub work: Work,
    attempts: u64,
}

/// Takes a job on; None where it is finished already, or was never committed. All work is safe to repeat, so a
/// message that arrives twice does no harm.
pub async fn claim<P: Platform>(platform: &P, id: &JobId) -> Result<Option<Claimed>> {
    let claim = Statement::new(
        "update jobs set state = 'processing', attempts = attempts + 1, updated_at = ?2
          where id = ?1 and state in ('pending', 'processing') returning input, attempts",
    )
    .bind(id)
    .bind(platform.host().now());
    let results = platform.db().write(vec![claim]).await?;
    let Some(row) = results.first().and_then(|rows| rows.first()) else { return Ok(None) };
    Ok(Some(Claimed {
        id: id.clone(),
        work: manifest::from_json(row.text("input")?)?,
        attempts: row.unsigned("attempts")?,
    }))
}

/// Notes that a job is finished.
pub async fn done<P: Platform>(platform: &P, job: &Claimed) -> Result<()> {
    note(platform, job, State::Done, None).await
}

/// Notes why an attempt failed. Returns after how many seconds to try again; None where the job is given up.
pub async fn failed<P: Platform>(platform: &P, job: &Claimed, why: &str) -> Result<Option<u32>> {
    if job.attempts >= MAX_ATTEMPTS {
        note(platform, job, State::Dead, Some(why)).await?;
        return Ok(None);
    }
    note(platform, job, State::Pending, Some(why)).await?;
    let doublings = u32::try_from(job.attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    Ok(Some(FIRST_RETRY_SECS.saturating_mul(2_u32.saturating_pow(doublings))))
}

async fn note<P: Platform>(platform: &P, job: &Claimed, state: State, error: Option<&str>) -> Result<()> {
    let note = Statement::new("update jobs set state = ?2, error = ?3, updated_at = ?4 where id = ?1")
        .bind(&job.id)
        .bind(state.name())
        .bind(error)
        .bind(platform.host().now());
    platform.db().write(vec![note]).await?;
    Ok(())
}
