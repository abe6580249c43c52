//! A restored database as SQL, for one that takes no file: rows only, since migrations make the tables and triggers make
//! what follows from rows.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use ledge_core::backup::tables::{Key, TABLES};
use ledge_core::ports::{Db, Statement, Value};

use crate::literal::literal;

/// D1 takes statements of up to 100 kB.
const STATEMENT_BYTES: usize = 90_000;
/// Rows that one read gives.
const PAGE: i64 = 500;

/// Writes the file; the number of rows of each table.
pub(super) async fn write<D: Db>(db: &D, path: &Path) -> Result<Vec<(String, u64)>> {
    let failed = || format!("can't write {}", path.display());
    let mut file = BufWriter::new(File::create(path).with_context(failed)?);
    // A database that is in use refuses the file at once.
    writeln!(file, "insert into guard (why) select 'target_changed' from accounts limit 1;")
        .with_context(failed)?;
    let mut counts = Vec::new();
    let segments_of_pages: &[Key] = &[Key::Number("segment"), Key::Number("page")];
    let tables = TABLES.iter().map(|table| (table.name, table.key));
    for (name, key) in tables.chain([("page_segments", segments_of_pages), ("backups", &[Key::Number("n")])])
    {
        counts.push((name.to_owned(), table(db, name, key, &mut file).await.with_context(failed)?));
    }
    // AUTOINCREMENT goes on behind the largest id that it ever saw.
    let last = column(db, "select seq as it from sqlite_sequence where name = 'ingests'").await?;
    for last in last {
        let row = format!(
            "insert into ingests (id, key, space_id, expires_at) values ({}, '', '', 0);",
            literal(&last)
        );
        writeln!(file, "{row}\ndelete from ingests where key = '';").with_context(failed)?;
    }
    file.flush().with_context(failed)?;
    Ok(counts)
}

async fn table<D: Db>(db: &D, name: &str, key: &[Key], file: &mut impl Write) -> Result<u64> {
    let columns: Vec<String> = (column(db, &format!("select name as it from pragma_table_info('{name}')"))
        .await?)
        .into_iter()
        .filter_map(|name| if let Value::Text(name) = name { Some(name) } else { None })
        .collect();
    let keys = key.iter().map(|key| key.column()).collect::<Vec<_>>().join(", ");
    let places = (1..=key.len()).map(|at| format!("?{at}")).collect::<Vec<_>>().join(", ");
    let names = columns.join(", ");
    let sql = format!("select {names} from {name} where ({keys}) > ({places}) order by {keys} limit {PAGE}");
    let begin = format!("insert into {name} ({names}) values ");
    let mut after: Vec<Value> = key
        .iter()
        .map(|key| if matches!(key, Key::Number(_)) { Value::Integer(0) } else { Value::Text(String::new()) })
        .collect();
    let (mut written, mut line) = (0, String::new());
    loop {
        let page = Statement { sql: sql.clone().into(), params: after.clone() };
        let rows = db.read(vec![page]).await?.into_iter().next().unwrap_or_default();
        for row in &rows {
            let values: Vec<String> =
                columns.iter().map(|column| literal(row.value(column).unwrap_or(&Value::Null))).collect();
            let values = format!("({})", values.join(", "));
            ensure!(
                begin.len() + values.len() < STATEMENT_BYTES,
                "a row of {name} is too long for one statement: {} bytes",
                values.len()
            );
            if !line.is_empty() && line.len() + values.len() > STATEMENT_BYTES {
                writeln!(file, "{line};")?;
                line.clear();
            }
            line += if line.is_empty() { &begin } else { ", " };
            line += &values;
            written += 1;
        }
        let Some(last) = rows.last() else { break };
        after = key.iter().map(|key| last.value(key.column()).cloned().unwrap_or(Value::Null)).collect();
    }
    if !line.is_empty() {
        writeln!(file, "{line};")?;
    }
    Ok(written)
}

async fn column<D: Db>(db: &D, sql: &str) -> Result<Vec<Value>> {
    let rows = db.read(vec![Statement::new(sql.to_owned())]).await?.into_iter().next().unwrap_or_default();
    Ok(rows.iter().filter_map(|row| row.value("it").cloned()).collect())
}
