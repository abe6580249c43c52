//! Rows into an empty database, in the order of the dump, which is one that foreign keys accept.

use std::collections::HashMap;

use super::check::{read_part, sections};
use super::{RestoreError, damaged};
use crate::backup::tables::{Table, table};
use crate::backup::{Header, Index};
use crate::ports::{Bucket, Db, DbError, Statement, Timestamp};

/// A bound text ends at 2 MB; a row has far less than the difference.
const JSON_BYTES: usize = 1_000_000;

/// Whether a segment is needed shows when the pages are there.
const SEGMENTS: &str = "segments";

/// Loads all parts. The triggers of the schema make what follows from rows: names to search, uses of pages. Tells
/// `progress` how many rows are done.
///
/// # Errors
/// [`RestoreError::Damaged`], [`RestoreError::Misfit`], and those of the ports. The database is of no use then.
pub async fn load<D: Db, B: Bucket>(
    db: &D,
    bucket: &B,
    index: &Index,
    now: Timestamp,
    mut progress: impl FnMut(u64),
) -> Result<(), RestoreError> {
    let mut known = HashMap::new();
    let mut rows = 0;
    for part in &index.parts {
        let text = read_part(bucket, part).await?;
        for (header, lines) in sections(&part.key, &text)? {
            let table = table(&header.table)
                .ok_or_else(|| damaged(&part.key, format!("it has a table {}", header.table)))?;
            if !known.contains_key(table.name) {
                known.insert(table.name, columns(db, table).await?);
            }
            let there = known.get(table.name).map(Vec::as_slice).unwrap_or_default();
            if let Some(unknown) = header.columns.iter().find(|column| !there.contains(column)) {
                return Err(damaged(&part.key, format!("table {} has no column {unknown}", table.name)));
            }
            insert(db, table, &header, &lines, now).await?;
            rows += lines.len() as u64;
            progress(rows);
        }
    }
    Ok(())
}

/// The columns that the database has: names out of a dump aren't trusted to be names.
async fn columns<D: Db>(db: &D, table: &Table) -> Result<Vec<String>, DbError> {
    let names = Statement::new("select name from pragma_table_info(?1)").bind(table.name);
    let rows = db.read(vec![names]).await?.into_iter().next().unwrap_or_default();
    rows.iter().map(|row| row.text("name").map(str::to_owned)).collect()
}

async fn insert<D: Db>(
    db: &D,
    table: &Table,
    header: &Header,
    lines: &[&str],
    now: Timestamp,
) -> Result<(), RestoreError> {
    let sql = statement(table, header);
    let mut lines = lines.iter().peekable();
    while lines.peek().is_some() {
        let mut json = String::from("[");
        while let Some(line) = lines.next_if(|_| json.len() < JSON_BYTES) {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(line);
        }
        json.push(']');
        let mut statement = Statement::new(sql.clone()).bind(json);
        if table.name == SEGMENTS {
            statement = statement.bind(now);
        }
        db.write(vec![statement]).await.map_err(|source| match source {
            DbError::Unavailable(_) => RestoreError::Database(source),
            source => RestoreError::Misfit { table: table.name.to_owned(), source },
        })?;
    }
    Ok(())
}

fn statement(table: &Table, header: &Header) -> String {
    let values: Vec<String> =
        (0..header.columns.len()).map(|at| format!("json_extract(r.value, '$[{at}]')")).collect();
    let (mut names, mut values) = (header.columns.join(", "), values.join(", "));
    if table.name == SEGMENTS {
        names.push_str(", state, state_at");
        values.push_str(", 'live', ?2");
    }
    // Rows that changed after they were dumped are there already.
    let new_only = if header.changed {
        let same: Vec<String> = (table.key.iter())
            .filter_map(|key| {
                let at = header.columns.iter().position(|column| column == key.column())?;
                Some(format!("t.{} = json_extract(r.value, '$[{at}]')", key.column()))
            })
            .collect();
        format!("where not exists (select 1 from {} t where {})", table.name, same.join(" and "))
    } else {
        String::new()
    };
    format!("insert into {} ({names}) select {values} from json_each(?1) r {new_only}", table.name)
}
