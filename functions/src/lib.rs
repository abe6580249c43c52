//! What the queues and the clock trigger: claim the job that a message names, take it a few steps on, note what became
//! of it.
//!
//! Messages arrive at least once, and a worker may be cut off at any point: `ledge_core::jobs` says how a job is done
//! once all the same. Each kind of work has a file here.

mod backup;
mod copy;
mod discard_ingest;
mod doctor;
mod expire_trash;
mod expire_uploads;
mod expire_versions;
mod hash;
mod import;
mod periodic;
mod purge;
mod reclaim;
mod thumbnails;
mod unpack;
mod verify_upload;

#[cfg(all(target_arch = "wasm32", target_env = "p2"))]
mod spin;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod workers;

use ledge_core::error::{Error, Result, Unavailable};
use ledge_core::ids::JobId;
use ledge_core::jobs::{self, Claim, Claimed, Next, Step, Work};
use ledge_core::ports::{Host, Platform};
use ledge_core::wrappers::{Counts, count};

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledge it: whoever should come next has been sent a message of their own.
    Done,
    /// Deliver it again after so many seconds.
    Retry {
        /// The delay.
        after_secs: u32,
    },
}

/// How long to wait where not even the job's row can be reached.
const DATABASE_RETRY_SECS: u32 = 30;

/// A worker begins no further step of a job after this time: a lease lasts longer, and so does what Workers give an
/// invocation of a queue's consumer (15 minutes, and 30 seconds of CPU).
const STEPS_MILLIS: i64 = 15_000;
/// Nor after so many calls to database and bucket: D1 allows an invocation 1,000 statements.
const STEPS_CALLS: u32 = 100;

/// Works on the job that a message names.
pub async fn run<P: Platform>(platform: &P, job: &JobId) -> Outcome {
    match work_on(platform, job).await {
        Ok(None) => Outcome::Done,
        Ok(Some(after_secs)) => Outcome::Retry { after_secs },
        Err(error) => {
            platform.host().report(&format!("job {job} can't be worked on: {error}"));
            Outcome::Retry { after_secs: DATABASE_RETRY_SECS }
        }
    }
}

/// What is due by the clock: lost messages, periodic jobs. Where nothing is sent to a queue that forgets, everything that
/// waits was lost: `silent_secs` is 0 then. Failures are reported; the next tick comes soon.
pub async fn tick<P: Platform>(platform: &P, silent_secs: Option<i64>) {
    if let Err(error) = jobs::tick(platform, &periodic::jobs(), silent_secs).await {
        platform.host().report(&format!("a tick failed: {error}"));
    }
}

/// Takes a job as far as it may go at once; the seconds after which the same message should come again.
async fn work_on<P: Platform>(platform: &P, id: &JobId) -> Result<Option<u32>> {
    let mut job = match jobs::claim(platform, id).await? {
        Claim::Job(job) => job,
        Claim::NotDue(after_secs) => return Ok(Some(after_secs)),
        Claim::Nothing => return Ok(None),
    };
    let begun = platform.host().now();
    let counts = Counts::default();
    let counted = count(platform, &counts);
    loop {
        let lane = job.lane;
        let stepped = step(&counted, &job).await;
        let time_left = platform.host().now().0 < begun.0.saturating_add(STEPS_MILLIS)
            && counts.round_trips().saturating_add(counts.bucket_operations()) < STEPS_CALLS;
        match jobs::leave(platform, *job, stepped, time_left).await? {
            Next::GoOn(next) => {
                // Where all run on one thread, requests get their turn between two steps.
                platform.host().sleep(1).await;
                job = next;
            }
            Next::Wake(after_secs) => {
                jobs::wake(platform, lane, id, after_secs).await;
                return Ok(None);
            }
            Next::Nothing => return Ok(None),
        }
    }
}

/// A step of a job.
async fn step<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let work = job
        .work
        .as_ref()
        .map_err(|why| Error::Unavailable(Unavailable::OtherRelease { why: why.to_string() }))?;
    match work {
        Work::Backup => backup::run(platform, job).await,
        Work::Doctor { content } => doctor::run(platform, job, *content).await,
        Work::DiscardIngest { ingest, key } => discard_ingest::run(platform, job, *ingest, key).await,
        Work::VerifyUpload { upload } => verify_upload::run(platform, job, upload).await,
        Work::Import => import::run(platform, job).await,
        Work::Hash => hash::run(platform, job).await,
        Work::Thumbnails { blob } => thumbnails::run(platform, job, blob).await,
        Work::ExpireUploads => expire_uploads::run(platform, job).await,
        Work::Reclaim => reclaim::sweep(platform, job).await,
        Work::ReclaimFullPass => reclaim::full_pass(platform, job).await,
        Work::Purge { rest } => purge::run(platform, job, rest.as_ref()).await,
        Work::Copy(large) => copy::run(platform, job, large).await,
        Work::Unpack(wanted) => unpack::run(platform, job, wanted).await,
        Work::ExpireTrash => expire_trash::run(platform, job).await,
        Work::ExpireVersions => expire_versions::run(platform, job).await,
    }
}
