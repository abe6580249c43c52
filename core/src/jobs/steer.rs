//! Ending a job, and trying one again.

use super::look::{self, watched};
use super::{Job, State, wake};
use crate::auth;
use crate::error::{Conflict, Error, Result};
use crate::ids::JobId;
use crate::ports::{Db, DbError, Host, Lane, Platform, Statement};
use crate::token::Token;

/// The job ?2, if the token ?1 may steer it at the time ?3.
macro_rules! steered {
    () => {
        concat!(
            "id in (select j.id from tokens k cross join accounts a on a.id = k.account_id cross join jobs j on j.id = ?2
              where k.hash = ?1 and (k.expires_at is null or k.expires_at > ?3) and k.rights = 'write' and ",
            watched!(),
            ")"
        )
    };
}

/// One that is worked on ends with its worker's next word.
const CANCEL: &str = concat!(
    "update jobs set cancel_requested = 1, updated_at = ?3,
        finished_at = iif(state = 'processing', null, ?3), forget_at = iif(state = 'processing', null, ?3 + ?4),
        state = iif(state = 'processing', state, 'cancelled')
      where finished_at is null and ",
    steered!()
);

/// Where it goes on is where it was: its checkpoint stays, and so does its lease's number.
const RETRY: &str = concat!(
    "update jobs set state = 'pending', attempts = 0, due_at = ?3, updated_at = ?3, cancel_requested = 0,
        finished_at = null, forget_at = null
      where state in ('dead', 'cancelled', 'retry') and ",
    steered!()
);

/// Ends a job: at once if it waits, else as soon as its worker notices. Safe to repeat. One round trip.
///
/// # Errors
/// [`Conflict::JobOver`] where it is over already.
pub async fn cancel<P: Platform>(platform: &P, token: &Token, id: &JobId) -> Result<Job> {
    let job = steer(platform, token, id, |statement| statement.bind(State::Cancelled.kept_millis()), CANCEL)
        .await?;
    match job.state {
        State::Done | State::Dead => Err(Error::Conflict(Conflict::JobOver)),
        _ => Ok(job),
    }
}

/// Has a job that was given up or cancelled begun again, and one that waits for another attempt begun now. Safe to repeat.
/// One round trip.
///
/// # Errors
/// [`Conflict::JobOver`] where it is done; [`Conflict::JobUnderWay`] where there may be only one of its kind, and another
/// is under way.
pub async fn retry<P: Platform>(platform: &P, token: &Token, id: &JobId) -> Result<Job> {
    let job = steer(platform, token, id, |statement| statement, RETRY).await?;
    if job.state == State::Done {
        return Err(Error::Conflict(Conflict::JobOver));
    }
    if let Some(lane) = Lane::ALL.into_iter().find(|lane| lane.name() == job.lane) {
        wake(platform, lane, id, 0).await;
    }
    Ok(job)
}

async fn steer<P: Platform>(
    platform: &P,
    token: &Token,
    id: &JobId,
    bind: impl FnOnce(Statement) -> Statement,
    sql: &'static str,
) -> Result<Job> {
    let now = platform.host().now();
    let change = bind(Statement::new(sql).bind(token.hash().to_string()).bind(id).bind(now));
    let batch = vec![auth::look_up_account(token, now), change, look::one(token, id)];
    let mut results = match platform.db().write(batch).await {
        Ok(results) => results.into_iter(),
        Err(DbError::Duplicate(_)) => return Err(Error::Conflict(Conflict::JobUnderWay)),
        Err(error) => return Err(error.into()),
    };
    let mut rows = || results.next().unwrap_or_default();
    let limits = auth::limits(rows().first())?;
    let _changed = rows();
    let job = Job::read(rows().first().ok_or(Error::NotFound)?)?;
    if !limits.writes {
        return Err(Error::TokenForbids { needs: "the right to write" });
    }
    Ok(job)
}
