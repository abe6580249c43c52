//! Asking for what has arrived to be verified.

use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::{JobId, SpaceId, UploadId};
use crate::jobs::{self, By, Job, State, Work};
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::token::Token;

/// Has a job verify it; the one that was asked for before, if there is one, anew where it was given
/// up. Up to three round trips.
///
/// # Errors
/// [`Error::NotFound`] for one that has expired, or was verified and is forgotten.
pub async fn ask<P: Platform>(platform: &P, token: &Token, space: &SpaceId, id: &UploadId) -> Result<Job> {
    let now = platform.host().now();
    let look = Statement::new("select job_id from direct_uploads where id = ?1 and space_id = ?2");
    let batch = vec![auth::look_up(token, space, now), look.bind(id).bind(space)];
    let results = platform.db().read(batch).await?;
    let first = |at: usize| results.get(at).and_then(|rows| rows.first());
    let caller = auth::authorise(first(0), Right::Write)?;
    let row = first(1).ok_or(Error::NotFound)?;
    let asked = row.text_or_null("job_id")?.and_then(JobId::parse);
    let job = match asked {
        Some(job) => job,
        None => {
            let work = Work::VerifyUpload { upload: id.to_string() };
            let by = By::Account { account: &caller.account, space: Some(space), token: Some(token) };
            let (job, row) = jobs::row(platform.host(), &work, by, now)?;
            let mark =
                Statement::new("update direct_uploads set job_id = ?2 where id = ?1 and job_id is null");
            let guard = Statement::new(
                "insert into guard (why) select 'target_changed' where not exists (
                   select 1 from direct_uploads where id = ?1 and job_id = ?2)",
            );
            let batch = vec![row, mark.bind(id).bind(&job), guard.bind(id).bind(&job)];
            jobs::commit(platform, work.lane(), &job, batch).await.map_err(refusal)?;
            job
        }
    };
    let found = jobs::find(platform, token, &job).await?;
    // What was missing may have come since.
    if found.state == State::Dead { jobs::retry(platform, token, &job).await } else { Ok(found) }
}

/// Somebody else has asked at the same time, or it has expired: whoever asks again learns which.
fn refusal(error: DbError) -> Error {
    match error {
        DbError::Violated(_) => Error::Conflict(Conflict::Contended),
        error => error.into(),
    }
}
