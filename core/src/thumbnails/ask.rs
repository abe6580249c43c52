//! Asking for thumbnails: a job's row, and that of the blob which says so. Of many who ask at once, one makes the job.

use super::{UNNAMED, essence, hopeless};
use crate::error::Result;
use crate::ids::{AccountId, BlobId, JobId};
use crate::jobs::{self, By, Job, Work};
use crate::ports::{Db, Host, Lane, Platform, Statement, Timestamp};
use crate::tree::Address;

/// Unless they are made, refused or under way, or were given up. A job that has gone, or that somebody has cancelled, is
/// replaced.
const WANT: &str = "insert into thumbnails (blob_id, job_id)
    select ?1, ?2 where exists (select 1 from blobs where id = ?1)
        on conflict (blob_id) do update set job_id = excluded.job_id
     where thumbnails.job_id is not null and not exists (
       select 1 from jobs j where j.id = thumbnails.job_id and (j.finished_at is null or j.state = 'dead'))";

/// Somebody else was first.
const SPARE: &str = "delete from jobs
    where id = ?2 and not exists (select 1 from thumbnails where blob_id = ?1 and job_id = ?2)";

const JOB: &str = concat!(
    "select ",
    jobs::columns!(),
    " from thumbnails t cross join jobs j on j.id = t.job_id where t.blob_id = ?1"
);

/// Has them made for an account that may read the file; the job that is under way, whoever asked. None where they are made
/// or refused by now, or the blob is gone. One round trip.
pub(super) async fn ask<P: Platform>(
    platform: &P,
    address: &Address,
    account: &AccountId,
    blob: &BlobId,
) -> Result<Option<Job>> {
    let work = Work::Thumbnails { blob: blob.to_string() };
    let by = By::Account { account, space: Some(&address.space), token: Some(&address.token) };
    let (id, row) = jobs::row(platform.host(), &work, by, platform.host().now())?;
    let want = Statement::new(WANT).bind(blob).bind(&id);
    let spare = Statement::new(SPARE).bind(blob).bind(&id);
    let job = Statement::new(JOB).bind(blob);
    let results = platform.db().write(vec![row, want, spare, job]).await?;
    let Some(found) = results.get(3).and_then(|rows| rows.first()) else { return Ok(None) };
    let job = Job::read(found)?;
    if job.id == id {
        jobs::wake(platform, work.lane(), &id, 0).await;
    }
    Ok(Some(job))
}

/// For the batch that makes a blob: where the operator wants thumbnails of all pictures, the job that makes them, to be woken
/// after the commit. It is the system's: nobody waits for it.
pub(crate) fn on_commit<P: Platform>(
    platform: &P,
    (blob, media_type, size_bytes): (&BlobId, &str, u64),
    now: Timestamp,
) -> Result<Option<(JobId, Vec<Statement>)>> {
    let may_be = essence(media_type) != UNNAMED && hopeless(media_type, size_bytes).is_none();
    if !platform.settings().thumbnails_on_upload || !may_be {
        return Ok(None);
    }
    let work = Work::Thumbnails { blob: blob.to_string() };
    let (id, row) = jobs::row(platform.host(), &work, By::System, now)?;
    let want =
        Statement::new("insert into thumbnails (blob_id, job_id) values (?1, ?2)").bind(blob).bind(&id);
    Ok(Some((id, vec![row, want])))
}

/// Wakes a worker for what [`on_commit`] has asked for.
pub(crate) async fn wake<P: Platform>(platform: &P, job: Option<JobId>) {
    if let Some(job) = job {
        jobs::wake(platform, Lane::Thumbnails, &job, 0).await;
    }
}
