//! Taking a job on: a lease that others respect while it lasts, and a number that refuses those who held it before.

use serde_json::{Value, json};

use super::look::{self, unreadable};
use super::{Progress, Rules, State, Work};
use crate::error::Result;
use crate::ids::{AccountId, JobId, SpaceId};
use crate::manifest;
use crate::ports::{Db, Host, Lane, Platform, Row, Statement, Timestamp};

/// What a message led to.
#[derive(Debug)]
pub enum Claim {
    /// The job is the caller's to do.
    Job(Box<Claimed>),
    /// It isn't due for so many seconds.
    NotDue(u32),
    /// There is nothing to do: it is over, or was never committed, or another worker has it.
    Nothing,
}

/// A job that a worker has taken on.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// Its id.
    pub id: JobId,
    /// Its lane.
    pub lane: Lane,
    /// What to do; the reason where this program can't read it.
    pub work: Result<Work, String>,
    /// Whose it is; None for the system's own.
    pub account: Option<AccountId>,
    /// The space that it is about.
    pub space: Option<SpaceId>,
    /// What the last step left; null at the beginning.
    pub checkpoint: Value,
    /// How far the last step came.
    pub progress: Progress,
    /// How often it was begun since it last made a step; this attempt counts.
    pub attempts: u64,
    pub(super) lease: u64,
}

/// Ends what may not go on: what was cancelled while nobody came back from it, and what workers don't come back from.
const END: &str = "update jobs set
    state = iif(cancel_requested = 1, 'cancelled', 'dead'),
    error = iif(state = 'processing' and cancel_requested = 0, 'the worker never came back', error),
    updated_at = ?2, finished_at = ?2, forget_at = ?2 + ?4
  where id = ?1 and finished_at is null and due_at <= ?2
    and (cancel_requested = 1 or attempts >= json_extract(?3, '$.' || lane))";

const CLAIM: &str = "update jobs set
    state = 'processing', attempts = attempts + 1, lease = lease + 1, due_at = ?3, updated_at = ?2
  where id = ?1 and finished_at is null and due_at <= ?2
  returning id, lane, input, account_id, space_id, checkpoint, attempts, lease,
            items_done, items_total, bytes_done, bytes_total";

/// Takes a job on. One round trip.
pub async fn claim<P: Platform>(platform: &P, id: &JobId) -> Result<Claim> {
    let now = platform.host().now();
    let most: serde_json::Map<String, Value> = Lane::ALL
        .into_iter()
        .map(|lane| (lane.name().to_owned(), json!(Rules::of(lane).max_attempts)))
        .collect();
    let end = Statement::new(END)
        .bind(id)
        .bind(now)
        .bind(manifest::to_json(&most)?)
        .bind(State::Dead.kept_millis());
    let take = Statement::new(CLAIM).bind(id).bind(now).bind(lease_end(platform, now));
    let look =
        Statement::new("select state, due_at from jobs where id = ?1 and finished_at is null").bind(id);
    let results = platform.db().write(vec![end, take, look]).await?;
    let row = |at: usize| results.get(at).and_then(|rows| rows.first());
    if let Some(taken) = row(1) {
        return Ok(Claim::Job(Box::new(Claimed::read(taken)?)));
    }
    let Some(waiting) = row(2) else { return Ok(Claim::Nothing) };
    if waiting.text("state")? == State::Processing.name() {
        // Should its worker be lost, the tick wakes another one.
        return Ok(Claim::Nothing);
    }
    let millis = waiting.integer("due_at")?.saturating_sub(now.0);
    Ok(Claim::NotDue(u32::try_from(millis / 1000 + 1).unwrap_or(1)))
}

/// When a lease that begins now runs out.
pub(super) fn lease_end<P: Platform>(platform: &P, now: Timestamp) -> Timestamp {
    now.plus_secs(platform.settings().lease_secs)
}

impl Claimed {
    fn read(row: &Row) -> Result<Self> {
        let lane = row.text("lane")?;
        let checkpoint = row.text_or_null("checkpoint")?;
        Ok(Self {
            id: look::id(row)?,
            lane: Lane::ALL
                .into_iter()
                .find(|known| known.name() == lane)
                .ok_or_else(|| unreadable("lane"))?,
            work: serde_json::from_str(row.text("input")?).map_err(|error| error.to_string()),
            account: row.text_or_null("account_id")?.and_then(AccountId::parse),
            space: row.text_or_null("space_id")?.and_then(SpaceId::parse),
            checkpoint: checkpoint.map_or(Ok(Value::Null), manifest::from_json)?,
            progress: Progress::read(row)?,
            attempts: row.unsigned("attempts")?,
            lease: row.unsigned("lease")?,
        })
    }

    /// The first statement of every batch by which a job changes the drive: refuses it as `lease_lost` where another
    /// worker has taken the job over, or it is over.
    pub fn guard(&self) -> Statement {
        Statement::new(
            "insert into guard (why) select 'lease_lost' where not exists (
               select 1 from jobs where id = ?1 and lease = ?2 and state = 'processing')",
        )
        .bind(&self.id)
        .bind(self.lease)
    }

    /// For the batch of an effect, behind [`Self::guard`]: the next step goes on behind it, even where this worker
    /// can't tell the engine any more.
    pub fn checkpoint(&self, checkpoint: &Value, progress: Progress, now: Timestamp) -> Result<Statement> {
        Ok(Statement::new(
            "update jobs set checkpoint = ?3, updated_at = ?4, attempts = 1,
                    items_done = ?5, items_total = ?6, bytes_done = ?7, bytes_total = ?8
              where id = ?1 and lease = ?2",
        )
        .bind(&self.id)
        .bind(self.lease)
        .bind(manifest::to_json(checkpoint)?)
        .bind(now)
        .bind(progress.items_done)
        .bind(progress.items_total)
        .bind(progress.bytes_done)
        .bind(progress.bytes_total))
    }

    /// In a step that takes long: keeps the lease, and shows how far it is. False where the step should end, because
    /// somebody has cancelled the job or another worker has it. One round trip.
    pub async fn heartbeat<P: Platform>(&self, platform: &P, progress: Progress) -> Result<bool> {
        let now = platform.host().now();
        let beat = Statement::new(
            "update jobs set due_at = ?3, updated_at = ?4,
                    items_done = ?5, items_total = ?6, bytes_done = ?7, bytes_total = ?8
              where id = ?1 and lease = ?2 and state = 'processing' returning cancel_requested",
        )
        .bind(&self.id)
        .bind(self.lease)
        .bind(lease_end(platform, now))
        .bind(now)
        .bind(progress.items_done)
        .bind(progress.items_total)
        .bind(progress.bytes_done)
        .bind(progress.bytes_total);
        let results = platform.db().write(vec![beat]).await?;
        match results.first().and_then(|rows| rows.first()) {
            None => Ok(false),
            Some(row) => Ok(row.integer("cancel_requested")? == 0),
        }
    }
}
