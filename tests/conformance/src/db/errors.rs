//! Which error says what.

use anyhow::{Result, bail, ensure};
use ledge_core::ports::{Db, DbError, Statement};

use super::{note, noted, notes, sql};
use crate::Report;
use crate::report::checks;

pub(super) async fn check(db: &impl Db, report: &mut Report) {
    checks!(
        report,
        "db",
        a_named_check_is_violated_by_its_name(db),
        the_name_arrives_from_an_update_too(db),
        a_unique_index_names_its_columns_as_duplicate(db),
        a_missing_value_is_rejected(db),
        bad_sql_is_rejected(db),
        an_unknown_table_is_rejected(db),
        a_value_without_a_place_is_rejected(db),
        text_that_looks_like_an_error_is_none(db),
    );
}

async fn refusal(db: &impl Db, batch: Vec<Statement>) -> Result<DbError> {
    match db.write(batch).await {
        Ok(_) => bail!("the batch was accepted"),
        Err(error) => Ok(error),
    }
}

async fn a_named_check_is_violated_by_its_name(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let error = refusal(db, vec![note("a", 1), note("b", 11)]).await?;
    ensure!(error == DbError::Violated("conformance_too_much".to_owned()));
    ensure!(noted(db).await?.is_empty());
    Ok(())
}

async fn the_name_arrives_from_an_update_too(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let raise = sql("update conformance_notes set amount = amount + 10");
    let error = refusal(db, vec![note("a", 1), raise]).await?;
    ensure!(error == DbError::Violated("conformance_too_much".to_owned()));
    Ok(())
}

async fn a_unique_index_names_its_columns_as_duplicate(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let error = refusal(db, vec![note("a", 1), note("b", 1), note("a", 2)]).await?;
    ensure!(error == DbError::Duplicate("conformance_notes.name".to_owned()));
    ensure!(noted(db).await?.is_empty());
    Ok(())
}

async fn a_missing_value_is_rejected(db: &impl Db) -> Result<()> {
    notes(db).await?;
    let error = refusal(db, vec![sql("insert into conformance_notes (name) values ('a')")]).await?;
    ensure!(matches!(error, DbError::Rejected(_)), "{error:?}");
    Ok(())
}

async fn bad_sql_is_rejected(db: &impl Db) -> Result<()> {
    for text in ["selec 1", "select", "select 1 from", "insert into"] {
        let error = refusal(db, vec![sql(text)]).await?;
        ensure!(matches!(error, DbError::Rejected(_)), "{text:?}: {error:?}");
    }
    Ok(())
}

async fn an_unknown_table_is_rejected(db: &impl Db) -> Result<()> {
    let batch = vec![sql("select * from conformance_unknown")];
    for error in [db.read(batch.clone()).await.err(), db.write(batch).await.err()] {
        ensure!(matches!(error, Some(DbError::Rejected(_))), "{error:?}");
    }
    Ok(())
}

async fn a_value_without_a_place_is_rejected(db: &impl Db) -> Result<()> {
    let error = refusal(db, vec![sql("select ?1 as only").bind("a").bind("b")]).await?;
    ensure!(matches!(error, DbError::Rejected(_)), "{error:?}");
    Ok(())
}

async fn text_that_looks_like_an_error_is_none(db: &impl Db) -> Result<()> {
    let misleading = "CHECK constraint failed: conformance_too_much";
    let error =
        refusal(db, vec![sql("select * from conformance_unknown where name = ?1").bind(misleading)]).await?;
    ensure!(matches!(error, DbError::Rejected(_)), "{error:?}");
    Ok(())
}
