//! Order, results and atomicity.

use anyhow::{Result, ensure};
use ledge_core::ports::Db;

use super::{note, noted, notes, only, sql};
use crate::Report;
use crate::report::checks;

pub(super) async fn check(db: &impl Db, report: &mut Report) {
    checks!(
        report,
        "db",
        an_empty_batch_is_an_empty_result(db),
        each_statement_has_its_result_in_order(db),
        a_statement_sees_what_earlier_ones_wrote(db),
        a_read_sees_every_write_before_it(db),
        returning_gives_the_rows_written(db),
        a_batch_takes_a_hundred_statements(db),
        a_failed_batch_leaves_nothing(db),
        a_batch_that_fails_at_its_end_leaves_nothing(db),
    );
}

async fn an_empty_batch_is_an_empty_result(db: &impl Db) -> Result<()> {
    ensure!(db.read(Vec::new()).await?.is_empty());
    ensure!(db.write(Vec::new()).await?.is_empty());
    Ok(())
}

async fn each_statement_has_its_result_in_order(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let batch = vec![
        sql("select 1 as n union all select 2"),
        note("a", 1),
        sql("select name from conformance_notes where name = 'nobody'"),
        sql("select name from conformance_notes"),
    ];
    let counts: Vec<usize> = db.write(batch).await?.iter().map(Vec::len).collect();
    ensure!(counts == [2, 0, 0, 1]);
    Ok(())
}

async fn a_statement_sees_what_earlier_ones_wrote(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let double = || sql("update conformance_notes set amount = amount * 2 where name = 'a'");
    let add = sql("update conformance_notes set amount = amount + 1 where name = 'a'");
    db.write(vec![note("a", 1), double(), add, double()]).await?;
    ensure!(noted(db).await? == ["a=6"]);
    Ok(())
}

async fn a_read_sees_every_write_before_it(db: &impl Db) -> Result<()> {
    notes(db).await?;
    for amount in 0..10 {
        db.write(vec![note(&format!("n{amount}"), amount)]).await?;
        ensure!(noted(db).await?.len() == usize::try_from(amount)? + 1);
    }
    Ok(())
}

async fn returning_gives_the_rows_written(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let insert =
        sql("insert into conformance_notes values ('a', 1), ('b', 2) returning name, amount * 10 as tenfold");
    let mut inserted = Vec::new();
    for row in only(db.write(vec![insert]).await?)? {
        inserted.push((row.text("name")?.to_owned(), row.integer("tenfold")?));
    }
    inserted.sort();
    ensure!(inserted == [("a".to_owned(), 10), ("b".to_owned(), 20)]);

    let update = sql("update conformance_notes set amount = 9 where name = 'a' returning amount");
    let delete = sql("delete from conformance_notes where name = 'b' returning name");
    let miss = sql("delete from conformance_notes where name = 'c' returning name");
    let counts: Vec<usize> = db.write(vec![update, delete, miss]).await?.iter().map(Vec::len).collect();
    ensure!(counts == [1, 1, 0]);
    ensure!(noted(db).await? == ["a=9"]);
    Ok(())
}

async fn a_batch_takes_a_hundred_statements(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let results = db.write((0..100).map(|n| note(&format!("{n:02}"), n % 10)).collect()).await?;
    ensure!(results.len() == 100);
    ensure!(noted(db).await?.len() == 100);
    Ok(())
}

async fn a_failed_batch_leaves_nothing(db: &impl Db) -> Result<()> {
    notes(db).await?;
    db.write(vec![note("kept", 1)]).await?;
    let clear = sql("delete from conformance_notes");
    ensure!(db.write(vec![note("a", 1), clear, note("b", 11), note("c", 1)]).await.is_err());
    ensure!(noted(db).await? == ["kept=1"]);
    Ok(())
}

async fn a_batch_that_fails_at_its_end_leaves_nothing(db: &impl Db) -> Result<()> {
    notes(db).await?;
    ensure!(db.write(vec![note("a", 1), note("b", 2), sql("select from nowhere")]).await.is_err());
    ensure!(noted(db).await?.is_empty());
    db.write(vec![note("after", 1)]).await?;
    ensure!(noted(db).await? == ["after=1"]);
    Ok(())
}
