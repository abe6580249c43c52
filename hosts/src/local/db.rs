//! `Db` over SQLite: one connection that writes and one that can only read, on one file.
//!
//! Statements run inline, on the thread that asks: they take microseconds, a thread hop costs as much, and a
//! batch that is never suspended can't be cancelled half-way nor overlap another one. What another process
//! holds locked is waited for, up to [`BUSY_TIMEOUT`].
//!
//! The connections are as strict as D1 (its limits on parameters, texts and statements), so that what works
//! here works there.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ledge_core::ports::{Db, DbError, Row, Rows, Statement, Value};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, ToSql, Transaction, TransactionBehavior};

use super::{OpenError, migrate};

/// How long to wait for another process (a backup, a second server) to release its lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Some more than Ledge has different statements.
const CACHED_STATEMENTS: usize = 256;

/// D1's limits: <https://developers.cloudflare.com/d1/platform/limits/>, and for the compound terms, the
/// expression depth and the LIKE patterns what workerd enforces.
const D1_LIMITS: [(Limit, i32); 8] = [
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
    (Limit::SQLITE_LIMIT_LENGTH, 2_000_000),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
];

/// A SQLite file. Clones share the connections.
#[derive(Debug, Clone)]
pub struct Sqlite {
    connections: Rc<Connections>,
}

#[derive(Debug)]
struct Connections {
    writer: Connection,
    reader: Connection,
}

impl Sqlite {
    /// Opens or creates the file, and brings its schema up to date.
    ///
    /// # Errors
    /// [`OpenError::Database`], [`OpenError::Migration`], [`OpenError::Unrecorded`].
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_up_to(path, None)
    }

    /// Opens or creates the file with the schema that a migration has left, which an older dump is for.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_at(path: &Path, schema_version: u32) -> Result<Self, OpenError> {
        Self::open_up_to(path, Some(schema_version))
    }

    /// Writes what is in the log beside the file into the file, which nobody has open, so that it can be moved.
    ///
    /// # Errors
    /// [`OpenError::Database`].
    pub fn make_one_file(path: &Path) -> Result<(), OpenError> {
        let failed = |source| OpenError::Database { path: path.to_owned(), source };
        let connection = Connection::open(path).map_err(failed)?;
        connection.query_row("pragma journal_mode = delete", [], |_| Ok(())).map_err(failed)?;
        connection.close().map_err(|(_, source)| failed(source))
    }

    fn open_up_to(path: &Path, schema_version: Option<u32>) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Database { path: path.to_owned(), source };
        let writer = connect(path).map_err(failed)?;
        // FULL, not NORMAL: a commit that was answered must survive a power cut, not only a crash.
        writer.execute_batch("pragma journal_mode = wal; pragma synchronous = full").map_err(failed)?;
        migrate::apply(&writer, schema_version)?;
        limit(&writer).map_err(failed)?;

        let reader = connect(path).map_err(failed)?;
        reader.execute_batch("pragma query_only = on").map_err(failed)?;
        limit(&reader).map_err(failed)?;
        Ok(Self { connections: Rc::new(Connections { writer, reader }) })
    }
}

impl Db for Sqlite {
    type Detached = Self;

    fn detached(&self) -> Self {
        self.clone()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        run(&self.connections.reader, TransactionBehavior::Deferred, &batch)
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        run(&self.connections.writer, TransactionBehavior::Immediate, &batch)
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.execute_batch("pragma foreign_keys = on")?;
    Ok(connection)
}

fn limit(connection: &Connection) -> rusqlite::Result<()> {
    D1_LIMITS.iter().try_for_each(|&(limit, value)| connection.set_limit(limit, value).map(drop))
}

fn run(
    connection: &Connection,
    behaviour: TransactionBehavior,
    batch: &[Statement],
) -> Result<Vec<Rows>, DbError> {
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    // A failed statement undoes only itself and leaves the transaction open: dropping it rolls back the rest.
    let transaction =
        Transaction::new_unchecked(connection, behaviour).map_err(|error| to_db_error(&error))?;
    let results = batch
        .iter()
        .map(|statement| execute(&transaction, statement))
        .collect::<rusqlite::Result<Vec<_>>>()
        .map_err(|error| to_db_error(&error))?;
    transaction.commit().map_err(|error| to_db_error(&error))?;
    Ok(results)
}

fn execute(connection: &Connection, statement: &Statement) -> rusqlite::Result<Rows> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let mut found = prepared.query(rusqlite::params_from_iter(statement.params.iter().map(Bound)))?;
    let mut columns: Option<Rc<[String]>> = None;
    let mut rows = Rows::new();
    while let Some(row) = found.next()? {
        // Asked for after the first step, which is where SQLite adapts a cached statement to a changed schema.
        let columns = columns.get_or_insert_with(|| row.as_ref().column_names().map(str::to_owned).collect());
        let values =
            (0..columns.len()).map(|at| to_value(at, row.get_ref(at)?)).collect::<rusqlite::Result<_>>()?;
        rows.push(Row::new(columns.clone(), values));
    }
    Ok(rows)
}

struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn to_value(at: usize, value: ValueRef<'_>) -> rusqlite::Result<Value> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Integer(number)),
        ValueRef::Real(number) => Ok(Value::Real(number)),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::Text(text.to_owned())),
            Err(error) => Err(rusqlite::Error::Utf8Error(at, error)),
        },
        // The dialect has none.
        ValueRef::Blob(_) => {
            Err(rusqlite::Error::InvalidColumnType(at, "a result".to_owned(), rusqlite::types::Type::Blob))
        }
    }
}

fn to_db_error(error: &rusqlite::Error) -> DbError {
    let message = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => {
            DbError::from_sqlite_message(&message).unwrap_or(DbError::Rejected(message))
        }
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted,
        ) => DbError::Unavailable(message),
        _ => DbError::Rejected(message),
    }
}

#[cfg(test)]
mod tests;
