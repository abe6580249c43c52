//! A worker that takes one step of a job at a time, small ones, so that a test decides what happens between two of them.

use ledge_core::error::{Error, Result};
use ledge_core::ids::JobId;
use ledge_core::jobs::{self, By, Claim, Step, Work};
use ledge_core::nodes::{self, CopyLimits};
use ledge_core::ports::{Db, Platform, Statement, Value};
use ledge_core::{trash, unzip};

use crate::Drive;

/// What a step moves at most.
const FEW: u64 = 5;

/// Takes one step of a job, and leaves it for the next worker.
///
/// # Errors
/// Where the engine itself can't reach the row.
pub async fn step<P: Platform>(platform: &P, id: &JobId) -> Result<()> {
    let Claim::Job(job) = jobs::claim(platform, id).await? else { return Ok(()) };
    let stepped: Result<Step> = match job.work.as_ref() {
        Ok(Work::Purge { rest }) => trash::purge_step(platform, &job, rest.as_ref(), FEW).await,
        Ok(Work::Copy(large)) => {
            let limits = CopyLimits { nodes: 5, folders: 2 };
            nodes::copy_step(platform, &job, large, limits).await
        }
        Ok(Work::Unpack(wanted)) => unzip::step(platform, &job, wanted, 2).await,
        other => Err(Error::Internal(format!("not a job of these tests: {other:?}"))),
    };
    jobs::leave(platform, *job, stepped, false).await.map(|_| ())
}

/// Takes steps until the job is over; the state that it ends in, and its error.
///
/// # Panics
/// Where it doesn't end.
pub async fn finish(drive: &Drive, id: &JobId) -> (String, Option<String>) {
    for _ in 0..1000 {
        let (state, error) = state(drive, id).await;
        if ["done", "dead", "cancelled"].contains(&state.as_str()) {
            return (state, error);
        }
        due(drive).await;
        step(drive.plain(), id).await.expect("a database");
    }
    panic!("the job {id} doesn't end");
}

/// Has the functions do a job of the system's, from its beginning to its end.
///
/// # Panics
/// Where it doesn't succeed.
pub async fn run_all<P: Platform>(drive: &Drive, platform: &P, work: &Work) {
    let job = jobs::start(platform, work, By::System).await.expect("a row").id;
    for _ in 0..1000 {
        let (state, error) = state(drive, &job).await;
        if state == "done" {
            return;
        }
        assert_eq!(error, None, "{state}");
        due(drive).await;
        ledge_functions::run(platform, &job).await;
    }
    panic!("the job {job} doesn't end");
}

/// The time has come for every job that waits, and the leases of dead workers are over.
///
/// # Panics
/// Without a database.
pub async fn due(drive: &Drive) {
    let due = Statement::new("update jobs set due_at = 0 where finished_at is null");
    drive.ports.db.write(vec![due]).await.expect("a database");
}

/// A job's state, and its error.
///
/// # Panics
/// Where there is no such job.
pub async fn state(drive: &Drive, id: &JobId) -> (String, Option<String>) {
    let look = Statement::new("select state, error from jobs where id = ?1").bind(id);
    let rows = drive.ports.db.read(vec![look]).await.expect("a query").remove(0);
    let row = rows.first().expect("a job");
    let text = |column: &str| match row.value(column) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    (text("state").expect("a state"), text("error"))
}
