//! Dumps and what is restored from them, for tests.

use ledge_core::backup::tables::{TABLES, Undo};
use ledge_core::backup::{Limits, Progress, begin, step};
use ledge_core::ports::{Bucket, Db, Host, Platform, Statement, Timestamp};
use ledge_core::restore::{self, RestoreError};
use ledge_hosts::local::Sqlite;

/// Small ones, so that a few rows make many pages and parts.
pub const SMALL: Limits = Limits { page_rows: 7, page_bytes: 2000, part_bytes: 4000 };

/// Makes a whole dump.
pub async fn dump<P: Platform>(platform: &P, id: &str, limits: &Limits) {
    begin(platform, id).await.expect("begins");
    while !matches!(step(platform, id, limits).await.expect("a step"), Progress::Done { .. }) {}
}

/// The rows of a table, as a dump writes them. `without` are columns that may differ.
pub async fn table_rows<D: Db>(db: &D, table: &str, columns: &[&str], without: &[&str]) -> Vec<String> {
    let columns: Vec<&str> = columns.iter().copied().filter(|column| !without.contains(column)).collect();
    let sql = format!("select json_array({}) as row from {table}", columns.join(", "));
    let rows = db.read(vec![Statement::new(sql)]).await.expect("rows").remove(0);
    let mut rows: Vec<String> = rows.iter().map(|row| row.text("row").expect("a row").to_owned()).collect();
    rows.sort_unstable();
    rows
}

/// Columns that a restore sets anew.
pub const COUNTERS: [&str; 4] = ["used_bytes", "reserved_bytes", "change_seq", "changes_gone_seq"];

/// All rows of which a dump shows one moment.
pub async fn snapshot<D: Db>(db: &D) -> Vec<(&'static str, Vec<String>)> {
    let mut tables = Vec::new();
    for table in TABLES.iter().filter(|table| table.undo == Undo::All) {
        tables.push((table.name, table_rows(db, table.name, table.columns, &COUNTERS).await));
    }
    tables
}

/// Restores a dump out of a bucket into a new database at a path.
pub async fn restore_to<B: Bucket>(
    bucket: &B,
    id: Option<&str>,
    path: &std::path::Path,
    now: Timestamp,
) -> Result<Sqlite, RestoreError> {
    let index = restore::find(bucket, id).await?;
    restore::check(bucket, &index, |_| ()).await?;
    let db = Sqlite::open_at(path, index.schema_version).expect("a new database");
    restore::load(&db, bucket, &index, now, |_| ()).await?;
    restore::settle(&db, now).await?;
    drop(db);
    Ok(Sqlite::open(path).expect("migrations run"))
}

/// The time of a platform.
pub fn now<P: Platform>(platform: &P) -> Timestamp {
    platform.host().now()
}
