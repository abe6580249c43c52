//! One step of a dump: one part, the index, or a piece of what is to be removed.

use super::cursor::Cursor;
use super::gzip::Packer;
use super::index::{Header, Part, prefix};
use super::tables::{Table, table};
use super::{finish, prune, read};
use crate::error::{Error, Result};
use crate::manifest::{from_json, to_json};
use crate::once;
use crate::ports::{Bucket, Db, Host, Platform, Statement};

/// How large pages and parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rows that one read looks at.
    pub page_rows: u32,
    /// A read ends behind the row with which it has so many bytes. Texts end at 2 MB, and a row has far less than the
    /// difference.
    pub page_bytes: u32,
    /// A part ends behind the read with which it has so many bytes before compression, of which a tenth to a third is
    /// stored. With one read and its last row more, it has at most 4 MiB.
    pub part_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { page_rows: 2000, page_bytes: 500_000, part_bytes: 2_500_000 }
    }
}

/// What a step has left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more.
    More {
        /// Rows dumped so far.
        rows: u64,
        /// Bytes stored so far.
        bytes: u64,
    },
    /// The dump is complete, and what the policy doesn't keep is gone.
    Done {
        /// Its rows.
        rows: u64,
        /// The size of its objects.
        bytes: u64,
    },
}

/// A dump's row.
#[derive(Debug, Clone)]
pub(super) struct Running {
    pub(super) n: i64,
    pub(super) id: String,
    /// The cursor as it stands in the row.
    pub(super) cursor: String,
    pub(super) schema_version: u64,
    pub(super) begun_at: i64,
    pub(super) next_part: u64,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// Does the next bounded piece of the dump: at most some fifty round trips, and one object of at most 4 MiB. Safe to repeat, and to run
/// twice at once: then one of them fails.
///
/// # Errors
/// [`Error::NotFound`] where there is no such dump, [`Error::Internal`] where it was given up. [`Error::Conflict`] where somebody else has taken
/// this step.
pub async fn step<P: Platform>(platform: &P, id: &str, limits: &Limits) -> Result<Progress> {
    let row = Statement::new(
        "select n, state, cursor, schema_version, begun_at, rows_dumped, size_bytes,
                coalesce((select max(part) + 1 from backup_parts where backup = n), 0) as next_part
           from backups where id = ?1",
    )
    .bind(id);
    let results = platform.db().read(vec![row]).await?;
    let row = results.first().and_then(|rows| rows.first()).ok_or(Error::NotFound)?;
    let backup = Running {
        n: row.integer("n")?,
        id: id.to_owned(),
        cursor: row.text("cursor")?.to_owned(),
        schema_version: row.unsigned("schema_version")?,
        begun_at: row.integer("begun_at")?,
        next_part: row.unsigned("next_part")?,
        rows: row.unsigned("rows_dumped")?,
        bytes: row.unsigned("size_bytes")?,
    };
    match row.text("state")? {
        "running" => match from_json(&backup.cursor)? {
            Cursor::Index { finished_at } => finish::run(platform, &backup, finished_at).await,
            cursor => store_part(platform, &backup, cursor, limits).await,
        },
        "done" => prune::run(platform, &backup).await,
        _ => Err(Error::Internal("this dump was given up: ask for another one".to_owned())),
    }
}

async fn store_part<P: Platform>(
    platform: &P,
    backup: &Running,
    mut cursor: Cursor,
    limits: &Limits,
) -> Result<Progress> {
    let mut packer = Packer::new();
    let (mut rows, mut headed) = (0, None);
    let next = loop {
        let table = table_of(&cursor)?;
        let page = read::page(platform.db(), limits, backup.n, table, &cursor).await?;
        if page.rows > 0 {
            let section = (table.name, matches!(cursor, Cursor::Undone { .. }));
            if headed != Some(section) {
                packer.lines(&to_json(&header(table, section.1))?)?;
                headed = Some(section);
            }
            packer.lines(&page.lines)?;
            rows += page.rows;
        }
        match page.next.or_else(|| cursor.behind()) {
            Some(next) if packer.plain_bytes >= limits.part_bytes => break next,
            Some(next) => cursor = next,
            None => break Cursor::Index { finished_at: platform.host().now().0 },
        }
    };
    let part = put(platform, backup, packer.finish()?, rows).await?;
    commit(platform, backup, &part, &next).await?;
    Ok(Progress::More { rows: backup.rows + rows, bytes: backup.bytes + part.size_bytes })
}

fn table_of(cursor: &Cursor) -> Result<&'static Table> {
    let (Cursor::Rows { table: name, .. } | Cursor::Undone { table: name, .. }) = cursor else {
        return Err(Error::Internal("the index is no table".to_owned()));
    };
    table(name).ok_or_else(|| Error::Internal(format!("no table {name} is dumped")))
}

fn header(table: &Table, changed: bool) -> Header {
    Header {
        table: table.name.to_owned(),
        columns: table.columns.iter().map(|column| (*column).to_owned()).collect(),
        changed,
    }
}

/// Stores a part under a key that no other attempt has: they may have read another moment.
async fn put<P: Platform>(platform: &P, backup: &Running, packed: Vec<u8>, rows: u64) -> Result<Part> {
    let mut random = [0; 8];
    platform.host().random(&mut random);
    let attempt = data_encoding::HEXLOWER.encode(&random);
    let sha256 = platform.host().sha256(&packed).await;
    let key = format!("{}{:06}-{attempt}.jsonl.gz", prefix(&backup.id), backup.next_part);
    platform.bucket().put(&key, &packed, sha256).await?;
    Ok(Part { key, size_bytes: packed.len() as u64, sha256: sha256.to_string(), rows })
}

async fn commit<P: Platform>(platform: &P, backup: &Running, part: &Part, next: &Cursor) -> Result<()> {
    let row = Statement::new(
        "insert into backup_parts (backup, part, key, sha256, size_bytes, rows_dumped)
         select n, ?3, ?4, ?5, ?6, ?7 from backups where id = ?1 and state = 'running' and cursor = ?2",
    )
    .bind(backup.id.as_str())
    .bind(backup.cursor.as_str())
    .bind(backup.next_part)
    .bind(part.key.as_str())
    .bind(part.sha256.as_str())
    .bind(part.size_bytes)
    .bind(part.rows);
    let go_on = Statement::new(
        "update backups set cursor = ?3, rows_dumped = rows_dumped + ?4, size_bytes = size_bytes + ?5
          where id = ?1 and state = 'running' and cursor = ?2",
    )
    .bind(backup.id.as_str())
    .bind(backup.cursor.as_str())
    .bind(to_json(next)?)
    .bind(part.rows)
    .bind(part.size_bytes);
    let happened = Statement::new("select 1 from backup_parts where backup = ?1 and part = ?2 and key = ?3")
        .bind(backup.n)
        .bind(backup.next_part)
        .bind(part.key.as_str());
    let happened =
        async || Ok(platform.db().read(vec![happened.clone()]).await?.iter().any(|rows| !rows.is_empty()));
    once::write_once(platform.db(), vec![row, go_on], &happened).await?;
    if happened().await? { Ok(()) } else { Err(Error::Conflict(crate::error::Conflict::Contended)) }
}
