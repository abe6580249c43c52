//! Batches side by side.

use anyhow::{Result, ensure};
use futures::future::{join, try_join_all};
use ledge_core::ports::{Db, DbError};

use super::{note, noted, notes, only, sql};
use crate::Report;
use crate::report::checks;

const WRITERS: usize = 20;

pub(super) async fn check(db: &impl Db, report: &mut Report) {
    checks!(
        report,
        "db",
        concurrent_increments_lose_nothing(db),
        a_read_never_sees_half_of_a_batch(db),
        of_many_guarded_writes_one_wins(db),
    );
}

async fn concurrent_increments_lose_nothing(db: &impl Db) -> Result<()> {
    notes(db).await?;
    // Below the table's limit of 10, so that each counts.
    db.write(vec![note("a", -100)]).await?;
    let increment = || db.write(vec![sql("update conformance_notes set amount = amount + 1")]);
    try_join_all((0..WRITERS).map(|_| increment())).await?;
    ensure!(noted(db).await? == ["a=-80"]);
    Ok(())
}

async fn a_read_never_sees_half_of_a_batch(db: &impl Db) -> Result<()> {
    notes(db).await?;
    db.write(vec![note("a", -100), note("b", -100)]).await?;
    let amount = |name: &str| sql("select amount from conformance_notes where name = ?1").bind(name);
    let step =
        |name: &str| sql("update conformance_notes set amount = amount + 1 where name = ?1").bind(name);
    let writes = try_join_all((0..WRITERS).map(|_| db.write(vec![step("a"), step("b")])));
    let reads = try_join_all((0..WRITERS).map(|_| db.read(vec![amount("a"), amount("b")])));
    let (written, read) = join(writes, reads).await;
    written?;
    for results in read? {
        let mut amounts = Vec::new();
        for rows in results {
            amounts.push(only(vec![rows])?.first().map(|row| row.integer("amount")).transpose()?);
        }
        ensure!(amounts.len() == 2 && amounts.first() == amounts.last());
    }
    Ok(())
}

/// The guard of every commit: a statement that violates a constraint where what was read no longer holds.
async fn of_many_guarded_writes_one_wins(db: &impl Db) -> Result<()> {
    notes(db).await?;
    db.write(vec![note("version", 1)]).await?;
    let guard = "insert into conformance_notes (name, amount)
        select 'guard', 11 where not exists (select 1 from conformance_notes where name = 'version' and amount = 1)";
    let commit =
        || db.write(vec![sql(guard), sql("update conformance_notes set amount = 2 where name = 'version'")]);
    let outcomes = futures::future::join_all((0..WRITERS).map(|_| commit())).await;
    ensure!(outcomes.iter().filter(|outcome| outcome.is_ok()).count() == 1);
    let violated = DbError::Violated("conformance_too_much".to_owned());
    ensure!(outcomes.iter().flat_map(|outcome| outcome.as_ref().err()).all(|error| *error == violated));
    ensure!(noted(db).await? == ["version=2"]);
    Ok(())
}
