//! The dumps that there are.

use crate::auth::{self, Right};
use crate::error::Result;
use crate::ports::{Db, DbError, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;

/// A dump, as an administrator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Its id, which is in the keys of its objects.
    pub id: String,
    /// How far it is.
    pub state: State,
    /// The moment that it shows.
    pub begun_at: Timestamp,
    /// When it was done, or was given up.
    pub finished_at: Option<Timestamp>,
    /// The migration whose tables it holds.
    pub schema_version: u64,
    /// Rows dumped.
    pub rows: u64,
    /// The size of its objects.
    pub size_bytes: u64,
    /// Why it was given up.
    pub error: Option<String>,
}

/// How far a dump is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Being written.
    Running,
    /// Complete.
    Done,
    /// Given up; it goes with the next one.
    Failed,
}

impl State {
    /// The name in the database and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// At most so many are listed.
const MAX_LISTED: u64 = 1000;

/// The newest first.
fn newest() -> Statement {
    Statement::new(
        "select id, state, begun_at, finished_at, schema_version, rows_dumped, size_bytes, error
           from backups where n > 0 order by n desc limit ?1",
    )
    .bind(MAX_LISTED)
}

/// Reads a row of [`newest`].
fn read(row: &Row) -> Result<Backup> {
    let state = row.text("state")?;
    let state = [State::Running, State::Done, State::Failed].into_iter().find(|known| known.name() == state);
    Ok(Backup {
        id: row.text("id")?.to_owned(),
        state: state.ok_or_else(|| DbError::Rejected("column state of a backup is malformed".to_owned()))?,
        begun_at: Timestamp(row.integer("begun_at")?),
        finished_at: row.integer_or_null("finished_at")?.map(Timestamp),
        schema_version: row.unsigned("schema_version")?,
        rows: row.unsigned("rows_dumped")?,
        size_bytes: row.unsigned("size_bytes")?,
        error: row.text_or_null("error")?.map(str::to_owned),
    })
}

/// All dumps. For administrators. One round trip.
pub async fn list<P: Platform>(platform: &P, token: &Token) -> Result<Vec<Backup>> {
    let look_up = auth::look_up_admin(token, platform.host().now());
    let mut results = platform.db().read(vec![look_up, newest()]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise_admin(rows().first(), Right::Read)?;
    rows().iter().map(read).collect()
}
