//! Brings a database up to date: runs the migrations whose numbers `schema_version` doesn't hold yet.
//!
//! Each file is one transaction and enters its own number at its end. Two processes may start at once: the
//! number is looked up again under the write lock. A database that is ahead of this binary is left as it is:
//! old code runs on the new schema.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::OpenError;
use crate::migrations::EMBEDDED;

struct Migration {
    number: u32,
    name: &'static str,
    sql: &'static str,
}

/// Applies what is missing, up to a number where there is one.
pub(super) fn apply(connection: &Connection, up_to: Option<u32>) -> Result<(), OpenError> {
    EMBEDDED
        .iter()
        .filter(|&&(number, ..)| up_to.is_none_or(|last| number <= last))
        .try_for_each(|&(number, name, sql)| apply_one(connection, &Migration { number, name, sql }))
}

fn apply_one(connection: &Connection, migration: &Migration) -> Result<(), OpenError> {
    let name = migration.name;
    let failed = |source| OpenError::Migration { name, source };
    // Without the lock first: at nearly every start there is nothing to do.
    if is_recorded(connection, migration.number).map_err(failed)? {
        return Ok(());
    }
    // Dropped on an error, the transaction rolls back.
    let transaction =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(failed)?;
    if is_recorded(&transaction, migration.number).map_err(failed)? {
        return Ok(());
    }
    transaction.execute_batch(migration.sql).map_err(failed)?;
    if !is_recorded(&transaction, migration.number).map_err(failed)? {
        return Err(OpenError::Unrecorded { name });
    }
    transaction.commit().map_err(failed)
}

fn is_recorded(connection: &Connection, number: u32) -> rusqlite::Result<bool> {
    connection.table_exists(None, "schema_version").and_then(|exists| {
        if !exists {
            return Ok(false);
        }
        connection.prepare("select 1 from schema_version where version = ?1")?.exists([number])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(connection: &Connection, table: &str) -> i64 {
        connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn every_migration_runs_once() {
        let connection = Connection::open_in_memory().unwrap();
        apply(&connection, None).unwrap();
        apply(&connection, None).unwrap();
        assert_eq!(rows(&connection, "schema_version"), i64::try_from(EMBEDDED.len()).unwrap());
    }

    #[test]
    fn a_file_with_triggers_and_semicolons_in_texts_is_one_transaction() {
        let connection = Connection::open_in_memory().unwrap();
        apply(&connection, None).unwrap();
        let good = Migration {
            number: 9001,
            name: "9001_good.sql",
            sql: "create table notes (text text); -- not; the end
                  create trigger loud after insert on notes begin
                    update notes set text = upper(text); insert into schema_version (version) values (9002);
                  end;
                  insert into notes values ('a;b');
                  insert into schema_version (version) values (9001);",
        };
        apply_one(&connection, &good).unwrap();
        assert!(is_recorded(&connection, 9002).unwrap());

        let broken = Migration {
            number: 9003,
            name: "9003_broken.sql",
            sql: "insert into notes values ('x'); insert into nowhere values (1);",
        };
        assert!(matches!(apply_one(&connection, &broken), Err(OpenError::Migration { .. })));
        let forgetful = Migration {
            number: 9004,
            name: "9004_forgetful.sql",
            sql: "drop trigger loud; insert into notes values ('x')",
        };
        assert!(matches!(apply_one(&connection, &forgetful), Err(OpenError::Unrecorded { .. })));
        assert_eq!(rows(&connection, "notes"), 1);
    }
}
