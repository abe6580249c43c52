//! What a dump leaves behind in the database, and dumps that are kept no longer.

use super::index::{index_key, prefix};
use super::step::{Progress, Running};
use crate::error::Result;
use crate::ports::{Bucket, Db, Platform, Statement};

/// Rows that one batch removes.
const ROWS: i64 = 2000;

/// Removes one piece: rows of dumps that don't run any more, or an older dump. Of those that are done, the newest so many
/// are kept as the settings say, and at least the one that has just ended; of those that failed, none.
pub(super) async fn run<P: Platform>(platform: &P, backup: &Running) -> Result<Progress> {
    let more = Progress::More { rows: backup.rows, bytes: backup.bytes };
    let undo = Statement::new(
        "delete from backup_undo where (backup, of_table, key) in (
            select backup, of_table, key from backup_undo where backup <= ?1 limit ?2) returning 1 as it",
    )
    .bind(backup.n)
    .bind(ROWS);
    let parts = Statement::new(
        "delete from backup_parts where (backup, part) in (
            select backup, part from backup_parts where backup <= ?1 limit ?2) returning 1 as it",
    )
    .bind(backup.n)
    .bind(ROWS);
    if platform.db().write(vec![undo, parts]).await?.iter().any(|rows| !rows.is_empty()) {
        return Ok(more);
    }
    let oldest = Statement::new(
        "select n, id from backups
          where n < ?1 and (state = 'failed' or (state = 'done' and n not in (
                select n from backups where state = 'done' and n <= ?1 order by n desc limit ?2)))
          order by n limit 1",
    )
    .bind(backup.n)
    .bind(u64::from(platform.settings().backups_kept.max(1)));
    let results = platform.db().read(vec![oldest]).await?;
    let Some(row) = results.first().and_then(|rows| rows.first()) else {
        return Ok(Progress::Done { rows: backup.rows, bytes: backup.bytes });
    };
    remove_objects(platform, row.text("id")?).await?;
    let gone = Statement::new("delete from backups where n = ?1").bind(row.integer("n")?);
    platform.db().write(vec![gone]).await?;
    Ok(more)
}

/// The index first, so that what is left of a dump never looks like one.
async fn remove_objects<P: Platform>(platform: &P, id: &str) -> Result<()> {
    platform.bucket().delete(&[index_key(id)]).await?;
    let prefix = prefix(id);
    loop {
        // Always the first page: what it showed is gone by then.
        let page = platform.bucket().list(&prefix, None).await?;
        let keys: Vec<String> = page.objects.into_iter().map(|object| object.key).collect();
        if keys.is_empty() {
            return Ok(());
        }
        platform.bucket().delete(&keys).await?;
    }
}
