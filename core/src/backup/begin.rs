//! Begins a dump: the moment that it shows.

use super::cursor::Cursor;
use super::tables::SCHEMA;
use crate::error::{Error, Result};
use crate::manifest::to_json;
use crate::ports::{Db, Host, Platform, Statement};

/// Begins the dump of this id, from which on changes are kept; does nothing where it has begun already. One that still
/// runs is given up: whoever worked on it has stopped, since only one is worked on at a time. One round trip, or two.
///
/// # Errors
/// [`Error::Internal`] where the database is ahead of this program: a dump would lack columns.
pub async fn begin<P: Platform>(platform: &P, id: &str) -> Result<()> {
    let version = Statement::new("select max(version) as version from schema_version");
    let results = platform.db().read(vec![version]).await?;
    let version = results.first().and_then(|rows| rows.first()).map(|row| row.unsigned("version"));
    let version = version.transpose()?.unwrap_or_default();
    if version > u64::from(SCHEMA) {
        return Err(Error::Internal(format!(
            "the database has migration {version}, and this program knows them up to {SCHEMA}: update it first"
        )));
    }
    let now = platform.host().now();
    let give_up = Statement::new(
        "update backups set state = 'failed', finished_at = ?2, error = 'it stopped, and a later one began'
          where state = 'running' and id <> ?1",
    )
    .bind(id)
    .bind(now);
    let begin = Statement::new(
        "insert into backups (id, state, schema_version, begun_at, cursor)
         select ?1, 'running', ?2, ?3, ?4 where not exists (select 1 from backups where id = ?1)",
    )
    .bind(id)
    .bind(version)
    .bind(now)
    .bind(to_json(&Cursor::start())?);
    platform.db().write(vec![give_up, begin]).await?;
    Ok(())
}
