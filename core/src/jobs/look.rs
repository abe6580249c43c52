//! Watching jobs.

use serde_json::Value;

use super::{By, Work};
use crate::auth;
use crate::error::{Error, Result};
use crate::ids::{AccountId, JobId, SpaceId};
use crate::manifest;
use crate::ports::{Db, DbError, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;
use crate::tree;

/// A job as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The lane that it goes through.
    pub lane: String,
    /// The name of the kind of work.
    pub kind: String,
    /// How far it is.
    pub state: State,
    /// How often it was begun since it last made a step.
    pub attempts: u64,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// How much is done.
    pub progress: Progress,
    /// What came of it, once it is done; else null.
    pub result: Value,
    /// Whether somebody wants it to end.
    pub cancel_requested: bool,
    /// Whose it is; None for the system's own.
    pub account: Option<AccountId>,
    /// The space that it is about.
    pub space: Option<SpaceId>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it last made a step.
    pub updated_at: Timestamp,
    /// When it is begun, or tried again; of a job that is worked on, when another worker takes it over unless it makes a
    /// step. None once it is over.
    pub due_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
}

/// How much of a job is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Items: nodes, segments, rows.
    pub items_done: u64,
    /// How many there are, where that is known.
    pub items_total: Option<u64>,
    /// Bytes.
    pub bytes_done: u64,
    /// How many there are, where that is known.
    pub bytes_total: Option<u64>,
}

impl Progress {
    pub(super) fn read(row: &Row) -> Result<Self> {
        let total =
            |column| Ok::<_, Error>(row.integer_or_null(column)?.and_then(|total| u64::try_from(total).ok()));
        Ok(Self {
            items_done: row.unsigned("items_done")?,
            items_total: total("items_total")?,
            bytes_done: row.unsigned("bytes_done")?,
            bytes_total: total("bytes_total")?,
        })
    }
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waiting for a worker.
    Pending,
    /// Waiting for another attempt.
    Retry,
    /// A worker has it.
    Processing,
    /// Finished.
    Done,
    /// Given up.
    Dead,
    /// Ended because somebody wanted it.
    Cancelled,
}

/// A week: for whoever asks what became of it.
const KEPT_MILLIS: i64 = 7 * 24 * 60 * 60 * 1000;
/// A month: somebody should look at it.
const DEAD_KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

impl State {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Retry, Self::Processing, Self::Done, Self::Dead, Self::Cancelled];

    /// The name in the database and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Retry => "retry",
            Self::Processing => "processing",
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// How long the row of a job that ends so is kept, in milliseconds.
    pub(super) fn kept_millis(self) -> i64 {
        if self == Self::Dead { DEAD_KEPT_MILLIS } else { KEPT_MILLIS }
    }
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The jobs, newest first.
    pub jobs: Vec<Job>,
    /// Whether older ones follow.
    pub more: bool,
}

/// What [`Job::read`] reads of the job `j`.
macro_rules! columns {
    () => {
        "j.id, j.lane, json_extract(j.input, '$.kind') as kind, j.state, j.attempts, j.error, j.items_done,
         j.items_total, j.bytes_done, j.bytes_total, j.result, j.cancel_requested, j.account_id, j.space_id,
         j.created_at, j.updated_at, j.due_at, j.finished_at"
    };
}

pub(crate) use columns;

/// Whether the token `k` reaches the job `j` of its own account: what is limited to a space watches that space's jobs,
/// what is limited to a folder its own.
macro_rules! reached {
    () => {
        "(k.space_id is null or j.token = k.hash or (k.folder_id is null and j.space_id = k.space_id))"
    };
}

/// Whether the token `k` of the account `a` may watch the job `j`: its account's, and administrators any.
macro_rules! watched {
    () => {
        concat!(
            "((j.account_id = k.account_id and ",
            $crate::jobs::look::reached!(),
            ") or (a.role = 'admin' and k.space_id is null))"
        )
    };
}
pub(super) use reached;
pub(super) use watched;

const ONE: &str = concat!(
    "select ",
    columns!(),
    " from tokens k cross join accounts a on a.id = k.account_id cross join jobs j on j.id = ?2
      where k.hash = ?1 and ",
    watched!()
);

macro_rules! page {
    ($state:literal) => {
        concat!(
            "select ",
            columns!(),
            " from tokens k cross join jobs j on j.account_id = k.account_id
              where k.hash = ?1 and (j.created_at, j.id) < (?2, ?3) and ",
            $state,
            " and ",
            reached!(),
            " order by j.created_at desc, j.id desc limit ?4"
        )
    };
}

/// The job that the token may watch.
pub(super) fn one(token: &Token, id: &JobId) -> Statement {
    Statement::new(ONE).bind(token.hash().to_string()).bind(id)
}

/// The job with the id; else the unfinished one with the key.
pub(super) fn by_id_or_key(id: &JobId, key: Option<&str>) -> Statement {
    Statement::new(concat!(
        "select ",
        columns!(),
        " from jobs j where j.id = coalesce((select i.id from jobs i where i.id = ?1),
             (select u.id from jobs u where u.unique_key = ?2 and u.finished_at is null))"
    ))
    .bind(id)
    .bind(key)
}

/// A job. One round trip.
///
/// # Errors
/// [`Error::NotFound`] for one that the token may not watch.
pub async fn find<P: Platform>(platform: &P, token: &Token, id: &JobId) -> Result<Job> {
    let batch = vec![auth::look_up_account(token, platform.host().now()), one(token, id)];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::limits(rows().first())?;
    Job::read(rows().first().ok_or(Error::NotFound)?)
}

/// The account's jobs, of one state or of any, older than `after`, at most `limit`. One round trip.
pub async fn list<P: Platform>(
    platform: &P,
    token: &Token,
    state: Option<State>,
    after: Option<(Timestamp, JobId)>,
    limit: u64,
) -> Result<Page> {
    let (time, last) = match &after {
        Some((time, id)) => (*time, id.as_str()),
        // Later than any: 2^53, and what follows every id.
        None => (Timestamp(1 << 53), "~"),
    };
    let sql = match state {
        None => page!("?5 is null"),
        Some(State::Done) => page!("j.state = ?5"),
        Some(_) => page!("j.state = ?5 and j.state <> 'done'"),
    };
    let newest = Statement::new(sql)
        .bind(token.hash().to_string())
        .bind(time)
        .bind(last)
        .bind(limit.saturating_add(1))
        .bind(state.map(State::name));
    let look_up = auth::look_up_account(token, platform.host().now());
    let mut results = platform.db().read(vec![look_up, newest]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::limits(rows().first())?;
    let mut jobs = rows().iter().map(Job::read).collect::<Result<Vec<_>>>()?;
    let more = jobs.len() as u64 > limit;
    jobs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Page { jobs, more })
}

impl Job {
    /// One whose row is written now.
    pub(crate) fn new(id: JobId, work: &Work, by: By<'_>, now: Timestamp) -> Result<Self> {
        let input = serde_json::to_value(work).map_err(|error| Error::Internal(error.to_string()))?;
        let kind = input.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (account, space) = match by {
            By::System => (None, None),
            By::Account { account, space, .. } => (Some(account.clone()), space.cloned()),
        };
        Ok(Self {
            id,
            lane: work.lane().name().to_owned(),
            kind,
            state: State::Pending,
            attempts: 0,
            error: None,
            progress: Progress::default(),
            result: Value::Null,
            cancel_requested: false,
            account,
            space,
            created_at: now,
            updated_at: now,
            due_at: Some(now),
            finished_at: None,
        })
    }

    pub(crate) fn read(row: &Row) -> Result<Self> {
        let finished_at = row.integer_or_null("finished_at")?.map(Timestamp);
        Ok(Self {
            id: id(row)?,
            lane: row.text("lane")?.to_owned(),
            kind: row.text("kind")?.to_owned(),
            state: State::parse(row.text("state")?).ok_or_else(|| unreadable("state"))?,
            attempts: row.unsigned("attempts")?,
            error: row.text_or_null("error")?.map(str::to_owned),
            progress: Progress::read(row)?,
            result: row.text_or_null("result")?.map_or(Ok(Value::Null), manifest::from_json)?,
            cancel_requested: row.integer("cancel_requested")? == 1,
            account: row.text_or_null("account_id")?.and_then(AccountId::parse),
            space: row.text_or_null("space_id")?.and_then(SpaceId::parse),
            created_at: Timestamp(row.integer("created_at")?),
            updated_at: Timestamp(row.integer("updated_at")?),
            due_at: finished_at.is_none().then_some(Timestamp(row.integer("due_at")?)),
            finished_at,
        })
    }
}

pub(super) fn id(row: &Row) -> Result<JobId> {
    tree::id(row, "id", JobId::parse)
}

pub(super) fn unreadable(column: &str) -> Error {
    DbError::Rejected(format!("column {column} of a job is malformed")).into()
}
