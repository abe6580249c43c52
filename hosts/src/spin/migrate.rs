//! Brings a database up to date, as the native host does: each migration is one transaction under the write lock, and
//! enters its own number at its end. A database that is ahead of this component is left as it is.
//!
//! Spin runs the first statement of a text only, so a file is taken apart.

use std::cell::Cell;

use ledge_core::ports::{DbError, Value};
use spin_sdk::sqlite::Connection;

use super::db::execute;
use crate::migrations::{EMBEDDED, statements};

thread_local! {
    /// Whether this instance has seen the schema that it needs. It doesn't go away.
    static IS_THERE: Cell<bool> = const { Cell::new(false) };
}

/// Applies what is missing.
pub(super) async fn apply(connection: &Connection) -> Result<(), DbError> {
    if IS_THERE.get() {
        return Ok(());
    }
    let newest = EMBEDDED.last().map_or(0, |&(number, ..)| number);
    if !is_recorded(connection, newest).await? {
        // Readers go on beside a writer then. libSQL does that by itself, and need not know the word.
        let _ = execute(connection, "pragma journal_mode = wal", &[]).await;
        for &(number, name, sql) in EMBEDDED {
            apply_one(connection, number, name, sql).await?;
        }
    }
    IS_THERE.set(true);
    Ok(())
}

async fn apply_one(connection: &Connection, number: u32, name: &str, sql: &str) -> Result<(), DbError> {
    if is_recorded(connection, number).await? {
        return Ok(());
    }
    execute(connection, "begin immediate", &[]).await?;
    // Who waited for the lock finds it done.
    let done = match is_recorded(connection, number).await {
        Ok(true) => Ok(()),
        Ok(false) => run(connection, number, name, sql).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => execute(connection, "commit", &[]).await.map(drop),
        Err(error) => {
            // Where even that fails, closing the connection does it.
            let _ = execute(connection, "rollback", &[]).await;
            Err(error)
        }
    }
}

async fn run(connection: &Connection, number: u32, name: &str, sql: &str) -> Result<(), DbError> {
    for statement in statements(sql) {
        execute(connection, statement, &[])
            .await
            .map_err(|error| DbError::Unavailable(format!("migration {name} can't be applied: {error}")))?;
    }
    if is_recorded(connection, number).await? {
        return Ok(());
    }
    Err(DbError::Unavailable(format!("migration {name} doesn't record its number in schema_version")))
}

async fn is_recorded(connection: &Connection, number: u32) -> Result<bool, DbError> {
    let table = "select 1 from sqlite_master where type = 'table' and name = 'schema_version'";
    if execute(connection, table, &[]).await?.is_empty() {
        return Ok(false);
    }
    let number = [Value::Integer(number.into())];
    let found = execute(connection, "select 1 from schema_version where version = ?1", &number).await?;
    Ok(!found.is_empty())
}
