//! `Db` over `spin:sqlite`: a file, or libSQL over the network.
//!
//! Connections are separate and have a transaction each, so a batch takes one that no other batch uses: two batches of a
//! request may overlap. A batch that is given up takes its connection along, and closing that rolls back.

use std::cell::RefCell;
use std::rc::Rc;

use ledge_core::ports::{Db, DbError, Row, Rows, Statement, Value};
use spin_sdk::sqlite::{self, Connection, RowResult};

use super::migrate;

/// The database that spin.toml names.
const DATABASE: &str = "default";

/// A SQLite database. Clones share the connections.
#[derive(Clone)]
pub struct Sqlite {
    idle: Rc<RefCell<Vec<Connection>>>,
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").finish_non_exhaustive()
    }
}

impl Sqlite {
    /// Opens the database, and brings its schema up to date.
    pub(super) async fn open() -> Result<Self, DbError> {
        let connection = connect().await?;
        migrate::apply(&connection).await?;
        Ok(Self { idle: Rc::new(RefCell::new(vec![connection])) })
    }

    async fn run(&self, begin: &'static str, batch: &[Statement]) -> Result<Vec<Rows>, DbError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        // Not in the condition, where the list would stay borrowed.
        let idle = self.idle.borrow_mut().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect().await?,
        };
        let done = transact(&connection, begin, batch).await;
        // After a failure it may be in any state, and is closed.
        if done.is_ok() {
            self.idle.borrow_mut().push(connection);
        }
        done
    }
}

impl Db for Sqlite {
    type Detached = Self;

    fn detached(&self) -> Self {
        self.clone()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.run("begin deferred", &batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.run("begin immediate", &batch).await
    }
}

async fn connect() -> Result<Connection, DbError> {
    let connection = Connection::open(DATABASE).await.map_err(to_db_error)?;
    execute(&connection, "pragma foreign_keys = on", &[]).await?;
    Ok(connection)
}

async fn transact(
    connection: &Connection,
    begin: &'static str,
    batch: &[Statement],
) -> Result<Vec<Rows>, DbError> {
    // A statement is a transaction by itself, and each call may be a round trip.
    if let [only] = batch {
        return Ok(vec![execute(connection, &only.sql, &only.params).await?]);
    }
    execute(connection, begin, &[]).await?;
    let mut results = Vec::with_capacity(batch.len());
    for statement in batch {
        match execute(connection, &statement.sql, &statement.params).await {
            Ok(rows) => results.push(rows),
            Err(error) => {
                // Where even that fails, closing does it.
                let _ = execute(connection, "rollback", &[]).await;
                return Err(error);
            }
        }
    }
    // A commit that fails for being late may have happened; one that was refused has not.
    execute(connection, "commit", &[]).await?;
    Ok(results)
}

/// Runs a statement to its end: errors show only there.
pub(super) async fn execute(connection: &Connection, sql: &str, params: &[Value]) -> Result<Rows, DbError> {
    let found = connection.execute(sql, params.iter().map(bound)).await.map_err(to_db_error)?;
    let columns: Rc<[String]> = found.columns().into();
    let rows = found.collect().await.map_err(to_db_error)?;
    rows.into_iter().map(|row| read_row(&columns, row)).collect()
}

fn bound(value: &Value) -> sqlite::Value {
    match value {
        Value::Null => sqlite::Value::Null,
        Value::Integer(number) => sqlite::Value::Integer(*number),
        Value::Real(number) => sqlite::Value::Real(*number),
        Value::Text(text) => sqlite::Value::Text(text.clone()),
    }
}

fn read_row(columns: &Rc<[String]>, row: RowResult) -> Result<Row, DbError> {
    let values = row.values.into_iter().map(|value| match value {
        sqlite::Value::Null => Ok(Value::Null),
        sqlite::Value::Integer(number) => Ok(Value::Integer(number)),
        sqlite::Value::Real(number) => Ok(Value::Real(number)),
        sqlite::Value::Text(text) => Ok(Value::Text(text)),
        // The dialect has none.
        sqlite::Value::Blob(_) => Err(DbError::Rejected("a result is a blob".to_owned())),
    });
    Ok(Row::new(columns.clone(), values.collect::<Result<_, _>>()?))
}

/// What SQLite says of a statement that it refuses, as far as a constraint's name doesn't say it.
const REFUSED: [&str; 9] = [
    "constraint failed",
    "no such ",
    "syntax error",
    "ambiguous ",
    "has no column",
    "too many ",
    "misuse of ",
    "wrong number of ",
    "datatype mismatch",
];

/// There is no result code, only SQLite's text. Of all that it doesn't refuse in so many words (busy, full, a lost
/// connection; libSQL's texts are its own) nobody knows whether it took effect, and that is what Unavailable means.
fn to_db_error(error: sqlite::Error) -> DbError {
    match error {
        sqlite::Error::Io(message) => {
            let refused = || REFUSED.iter().any(|text| message.contains(text));
            DbError::from_sqlite_message(&message).unwrap_or_else(|| match refused() {
                true => DbError::Rejected(message.clone()),
                false => DbError::Unavailable(message.clone()),
            })
        }
        sqlite::Error::NoSuchDatabase | sqlite::Error::AccessDenied => {
            DbError::Unavailable(format!("spin.toml gives the component no database {DATABASE:?}"))
        }
        sqlite::Error::InvalidConnection => DbError::Unavailable("the connection is gone".to_owned()),
        sqlite::Error::DatabaseFull => DbError::Unavailable("the database is full".to_owned()),
    }
}
