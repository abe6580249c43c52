//! Watching one's jobs.

use crate::auth;
use crate::error::{Error, Result};
use crate::ids::JobId;
use crate::ports::{Db, DbError, Host, Platform, Statement, Timestamp};
use crate::token::Token;

/// A job as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The name of the kind of work.
    pub kind: String,
    /// How far it is.
    pub state: State,
    /// How often it was begun.
    pub attempts: u64,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it last made a step.
    pub updated_at: Timestamp,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waiting for a worker.
    Pending,
    /// A worker has it.
    Processing,
    /// Finished.
    Done,
    /// Given up.
    Dead,
}

impl State {
    /// The name in the database and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

/// The caller's newest jobs, at most 100, newest first. One round trip.
pub async fn find<P: Platform>(platform: &P, token: &Token) -> Result<Vec<Job>> {
    let now = platform.host().now();
    let newest = Statement::new(
        "select j.id, json_extract(j.input, '$.kind') as kind, j.state, j.attempts, j.error, j.created_at, j.updated_at
           from tokens t cross join jobs j on j.account_id = t.account_id
          where t.hash = ?1 order by j.created_at desc, j.id desc limit 100",
    )
    .bind(token.hash().to_string());
    let mut results = platform.db().read(vec![auth::look_up_account(token, now), newest]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authenticate(rows().first())?;
    rows()
        .iter()
        .map(|row| {
            let state = row.text("state")?;
            Ok(Job {
                id: JobId::parse(row.text("id")?).ok_or_else(|| unreadable("id"))?,
                kind: row.text("kind")?.to_owned(),
                state: [State::Pending, State::Processing, State::Done, State::Dead]
                    .into_iter()
                    .find(|known| known.name() == state)
                    .ok_or_else(|| unreadable("state"))?,
                attempts: row.unsigned("attempts")?,
                error: row.text_or_null("error")?.map(str::to_owned),
                created_at: Timestamp(row.integer("created_at")?),
                updated_at: Timestamp(row.integer("updated_at")?),
            })
        })
        .collect()
}

fn unreadable(column: &str) -> Error {
    DbError::Rejected(format!("column {column} of a job is malformed")).into()
}
