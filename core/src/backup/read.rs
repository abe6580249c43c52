//! Reads a page of rows as lines of JSON, made in SQL: no row is looked at here.

use serde_json::Value as Json;

use super::Limits;
use super::cursor::{Cursor, bound};
use super::tables::{Key, Table, Undo};
use crate::error::Result;
use crate::ports::{Db, DbError, Row, Statement};

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    /// Rows, a line each, without a line feed at the end.
    pub(super) lines: String,
    /// How many lines.
    pub(super) rows: u64,
    /// Where the next page begins; None at the end of the table's rows.
    pub(super) next: Option<Cursor>,
}

/// Reads the page at a cursor. One round trip.
pub(super) async fn page<D: Db>(
    db: &D,
    limits: &Limits,
    backup: i64,
    table: &Table,
    cursor: &Cursor,
) -> Result<Page> {
    let statement = match cursor {
        Cursor::Rows { after, .. } => rows(limits, backup, table, after),
        Cursor::Undone { after, .. } => undone(limits, backup, table, after.as_ref()),
        Cursor::Index { .. } => return Ok(Page { lines: String::new(), rows: 0, next: None }),
    };
    let results = db.read(vec![statement]).await?;
    // An aggregate always has a row; without any below it, its place is null.
    let Some(row) = results.first().and_then(|rows| rows.first()).filter(|row| seen(row)) else {
        return Ok(Page { lines: String::new(), rows: 0, next: None });
    };
    let next = match cursor {
        Cursor::Rows { .. } => {
            let key = |(at, key): (usize, &Key)| -> Result<Json, DbError> {
                let column = format!("k{at}");
                Ok(match key {
                    Key::Number(_) => Json::from(row.integer(&column)?),
                    Key::Text(_) => Json::from(row.text(&column)?),
                })
            };
            let after = table.key.iter().enumerate().map(key).collect::<Result<_, _>>()?;
            Cursor::Rows { table: table.name.to_owned(), after }
        }
        _ => {
            let after = match row.integer("k0") {
                Ok(number) => Json::from(number),
                Err(_) => Json::from(row.text("k0")?),
            };
            Cursor::Undone { table: table.name.to_owned(), after: Some(after) }
        }
    };
    let lines = row.text_or_null("lines")?.unwrap_or_default().to_owned();
    Ok(Page { lines, rows: row.unsigned("count")?, next: Some(next) })
}

fn seen(row: &Row) -> bool {
    row.integer_or_null("place").is_ok_and(|place| place.is_some())
}

/// Rows behind a key. What has changed since the dump began counts, but has no line.
fn rows(limits: &Limits, backup: i64, table: &Table, after: &[Json]) -> Statement {
    let name = table.name;
    let keys: Vec<&str> = table.key.iter().map(|key| key.column()).collect();
    let of = |alias: &str, columns: &[&str]| {
        columns.iter().map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
    };
    let places: Vec<String> = (0..keys.len()).map(|at| format!("?{}", at + 5)).collect();
    let named: Vec<String> = (0..keys.len()).map(|at| format!("k{at}")).collect();
    let key_as: Vec<String> =
        keys.iter().zip(&named).map(|(key, name)| format!("t.{key} as {name}")).collect();
    let (key, named) = (of("t", &keys), named.join(", "));
    let line = format!("json_array({})", of("t", table.columns));
    let undo_key = if keys.len() == 1 { key.clone() } else { format!("json_array({key})") };
    let line = match table.undo {
        Undo::All => format!(
            "case when not exists (select 1 from backup_undo u
                   where u.backup = ?1 and u.of_table = ?4 and u.key = {undo_key}) then {line} end"
        ),
        Undo::Deleted | Undo::None => line,
    };
    let statement = Statement::new(format!(
        "select group_concat(line, char(10)) as lines, count(line) as count, max(place) as place, {named}
           from (select line, {named}, row_number() over (order by {named}) as place,
                        sum(coalesce(length(cast(line as blob)), 0))
                          over (order by {named} rows unbounded preceding) as total
                   from (select {key_as}, {line} as line
                           from {name} t where ({key}) > ({places}) order by {key} limit ?2) page) p
          where total - coalesce(length(cast(line as blob)), 0) < ?3",
        key_as = key_as.join(", "),
        places = places.join(", "),
    ))
    .bind(backup)
    .bind(i64::from(limits.page_rows))
    .bind(i64::from(limits.page_bytes))
    .bind(name);
    after.iter().fold(statement, |statement, key| statement.bind(bound(key)))
}

/// What rows were that have changed since.
fn undone(limits: &Limits, backup: i64, table: &Table, after: Option<&Json>) -> Statement {
    // A key is a number or a text, and every number comes before every text.
    let behind = if after.is_some() { "and key > ?5" } else { "" };
    let statement = Statement::new(format!(
        "select group_concat(was, char(10)) as lines, count(was) as count, max(place) as place, key as k0
           from (select was, key, row_number() over (order by key) as place,
                        sum(coalesce(length(cast(was as blob)), 0))
                          over (order by key rows unbounded preceding) as total
                   from (select was, key from backup_undo
                          where backup = ?1 and of_table = ?4 {behind} order by key limit ?2) page) p
          where total - coalesce(length(cast(was as blob)), 0) < ?3"
    ))
    .bind(backup)
    .bind(i64::from(limits.page_rows))
    .bind(i64::from(limits.page_bytes))
    .bind(table.name);
    after.into_iter().fold(statement, |statement, key| statement.bind(bound(key)))
}
