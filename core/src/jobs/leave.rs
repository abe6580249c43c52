//! What a step of a job came to, and what becomes of the job.

use serde_json::Value;

use super::claim::lease_end;
use super::{Claimed, Progress, Rules, State};
use crate::error::{Error, Result, Unavailable};
use crate::manifest;
use crate::ports::{Db, Host, Platform, Statement, Timestamp};

/// What a step came to: a bounded piece of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The job is done.
    Done {
        /// What was done in all.
        progress: Progress,
        /// What came of it, for whoever watches; null for nothing.
        result: Value,
    },
    /// There is more to do.
    More {
        /// How far it is.
        progress: Progress,
        /// Where the next step goes on.
        checkpoint: Value,
        /// How long that one should wait.
        after_secs: u32,
    },
}

impl Step {
    /// The job is done, and there is nothing to tell.
    pub fn done() -> Self {
        Self::Done { progress: Progress::default(), result: Value::Null }
    }
}

/// What the worker does now.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// The next step.
    GoOn(Box<Claimed>),
    /// Nothing; a message should come after so many seconds.
    Wake(u32),
    /// Nothing: the job is over, or another worker's.
    Nothing,
}

/// The longest error that is kept.
const MAX_ERROR_BYTES: usize = 1000;

/// A job that was cancelled ends here, unless it is done. What isn't given keeps its value.
const LEAVE: &str = "update jobs set
    state = iif(cancel_requested = 1 and ?3 <> 'done', 'cancelled', ?3),
    finished_at = iif(cancel_requested = 1 or ?3 in ('done', 'dead'), ?4, null),
    forget_at = iif(cancel_requested = 1 or ?3 in ('done', 'dead'), ?4 + ?5, null),
    updated_at = ?4, due_at = ?6, attempts = ?7, error = ?8,
    checkpoint = coalesce(?9, checkpoint), result = coalesce(?10, result),
    items_done = coalesce(?11, items_done), items_total = coalesce(?12, items_total),
    bytes_done = coalesce(?13, bytes_done), bytes_total = coalesce(?14, bytes_total)
  where id = ?1 and lease = ?2 and state = 'processing' returning state";

/// How a job is left.
struct Left {
    state: State,
    due_at: Timestamp,
    attempts: u64,
    error: Option<String>,
    checkpoint: Option<Value>,
    result: Option<Value>,
    progress: Option<Progress>,
}

/// Notes what a step came to. With `time_left` the same worker may go on with the next one. One round trip.
pub async fn leave<P: Platform>(
    platform: &P,
    job: Claimed,
    stepped: Result<Step>,
    time_left: bool,
) -> Result<Next> {
    let now = platform.host().now();
    let (left, next) = match stepped {
        Ok(Step::Done { progress, result }) => (
            Left {
                result: Some(result),
                progress: Some(progress),
                ..Left::new(State::Done, now, job.attempts)
            },
            Next::Nothing,
        ),
        Ok(Step::More { progress, checkpoint, after_secs }) => {
            let goes_on = time_left && after_secs == 0;
            let left = if goes_on {
                Left::new(State::Processing, lease_end(platform, now), 1)
            } else {
                Left::new(State::Pending, now.plus_secs(after_secs.into()), 0)
            };
            let next = if goes_on {
                Next::GoOn(Box::new(Claimed {
                    checkpoint: checkpoint.clone(),
                    progress,
                    attempts: 1,
                    ..job.clone()
                }))
            } else {
                Next::Wake(after_secs)
            };
            (Left { checkpoint: Some(checkpoint), progress: Some(progress), ..left }, next)
        }
        Err(error) => failed(platform.host(), &job, &error, now),
    };
    let results = platform.db().write(vec![left.statement(&job, now)?]).await?;
    match results.first().and_then(|rows| rows.first()) {
        Some(row) if row.text("state")? == left.state.name() => Ok(next),
        _ => Ok(Next::Nothing),
    }
}

fn failed(host: &impl Host, job: &Claimed, error: &Error, now: Timestamp) -> (Left, Next) {
    let cause = match error {
        Error::Unavailable(Unavailable::Database { cause } | Unavailable::Bucket { cause }) => cause.as_str(),
        _ => "",
    };
    let rules = Rules::of(job.lane);
    let is_over = job.attempts >= rules.max_attempts || !error.may_pass();
    host.report(&format!(
        "job {}: attempt {} of {} failed{}: {error} {cause}",
        job.id,
        job.attempts,
        rules.max_attempts,
        if is_over { ", and it is given up" } else { "" }
    ));
    // Whoever owns the job isn't told what is in the log, as with requests.
    let mut why = match error {
        Error::Internal(_) => "internal error: this is a fault of the server".to_owned(),
        error => error.to_string(),
    };
    why.truncate(why.floor_char_boundary(MAX_ERROR_BYTES));
    let (state, after_secs) =
        if is_over { (State::Dead, 0) } else { (State::Retry, rules.retry_after_secs(host, job.attempts)) };
    let left = Left { error: Some(why), ..Left::new(state, now.plus_secs(after_secs.into()), job.attempts) };
    (left, if is_over { Next::Nothing } else { Next::Wake(after_secs) })
}

impl Left {
    fn new(state: State, due_at: Timestamp, attempts: u64) -> Self {
        Self { state, due_at, attempts, error: None, checkpoint: None, result: None, progress: None }
    }

    fn statement(&self, job: &Claimed, now: Timestamp) -> Result<Statement> {
        let json = |value: &Option<Value>| value.as_ref().map(manifest::to_json).transpose();
        let progress = self.progress;
        Ok(Statement::new(LEAVE)
            .bind(&job.id)
            .bind(job.lease)
            .bind(self.state.name())
            .bind(now)
            .bind(self.state.kept_millis())
            .bind(self.due_at)
            .bind(self.attempts)
            .bind(self.error.as_deref())
            .bind(json(&self.checkpoint)?)
            .bind(json(&self.result)?)
            .bind(progress.map(|progress| progress.items_done))
            .bind(progress.and_then(|progress| progress.items_total))
            .bind(progress.map(|progress| progress.bytes_done))
            .bind(progress.and_then(|progress| progress.bytes_total)))
    }
}
