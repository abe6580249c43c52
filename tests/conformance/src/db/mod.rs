//! `Db`.

mod batches;
mod concurrency;
mod errors;
mod values;

use anyhow::{Context, Result};
use ledge_core::ports::{Db, DbError, Row, Rows, Statement};

use crate::Report;

/// Every table of the suite.
const TABLES: [&str; 2] = ["conformance_notes", "conformance_values"];

pub(crate) async fn check(db: &impl Db, report: &mut Report) {
    batches::check(db, report).await;
    errors::check(db, report).await;
    values::check(db, report).await;
    concurrency::check(db, report).await;
    report.note("db", "tables_can_be_dropped", clear(db).await.map_err(Into::into));
}

pub(crate) async fn clear(db: &impl Db) -> Result<(), DbError> {
    let drops = TABLES.map(|table| sql(format!("drop table if exists {table}")));
    db.write(drops.to_vec()).await.map(drop)
}

/// An empty table: names, unique, and amounts, none above 10.
pub(crate) async fn notes(db: &impl Db) -> Result<()> {
    clear(db).await?;
    let table = "create table conformance_notes (
        name text not null unique,
        amount integer not null,
        constraint conformance_too_much check (amount <= 10)
    )";
    db.write(vec![Statement::new(table)]).await?;
    Ok(())
}

pub(crate) fn sql(text: impl Into<std::borrow::Cow<'static, str>>) -> Statement {
    Statement::new(text)
}

/// Adds a row to the notes.
pub(crate) fn note(name: &str, amount: i64) -> Statement {
    sql("insert into conformance_notes (name, amount) values (?1, ?2)").bind(name).bind(amount)
}

/// The notes as `name=amount`, by name.
pub(crate) async fn noted(db: &impl Db) -> Result<Vec<String>> {
    let results = db.read(vec![sql("select name, amount from conformance_notes order by name")]).await?;
    let rows = only(results)?;
    rows.iter().map(|row| Ok(format!("{}={}", row.text("name")?, row.integer("amount")?))).collect()
}

/// The result of the only statement.
pub(crate) fn only(results: Vec<Rows>) -> Result<Rows> {
    let [rows] = <[Rows; 1]>::try_from(results).ok().context("not one result for one statement")?;
    Ok(rows)
}

/// The only row of the only statement.
pub(crate) fn row(results: Vec<Rows>) -> Result<Row> {
    let [row] = <[Row; 1]>::try_from(only(results)?).ok().context("not exactly one row")?;
    Ok(row)
}
