//! `spin:sqlite`, as Spin's own in-process implementation does it: a connection of its own for each, SQLite's messages as
//! they are, the first statement of a text only.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use rusqlite::types::{Value as Stored, ValueRef};
use wasmtime::component::{Accessor, FutureReader, HasSelf, Resource, StreamReader};

use crate::instance::State;
use bindings::spin::sqlite::sqlite::{
    Error, Host, HostConnection, HostConnectionWithStore, QueryResult, RowResult, Value,
};

/// From the WIT files.
pub mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "imports",
        with: { "spin:sqlite/sqlite.connection": crate::sqlite::Connection },
    });
}

/// An open connection.
pub struct Connection(Arc<Mutex<rusqlite::Connection>>);

/// Runs SQL before anything else, as `spin up --sqlite` does.
pub fn prepare(database: &Path, files: &[PathBuf]) -> Result<()> {
    for file in files {
        let sql = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
        rusqlite::Connection::open(database)?
            .execute_batch(&sql)
            .with_context(|| format!("can't run {}", file.display()))?;
    }
    Ok(())
}

impl Host for State {}

impl HostConnection for State {
    fn open(&mut self, database: String) -> Result<Resource<Connection>, Error> {
        open(self, &database)
    }

    fn execute(
        &mut self,
        connection: Resource<Connection>,
        statement: String,
        parameters: Vec<Value>,
    ) -> Result<QueryResult, Error> {
        let connection = of(self, &connection)?;
        let found = run(&connection, &statement, parameters)?;
        found.failed?;
        Ok(QueryResult { columns: found.columns, rows: found.rows })
    }

    fn last_insert_rowid(&mut self, connection: Resource<Connection>) -> i64 {
        of(self, &connection).map_or(0, |connection| lock(&connection).last_insert_rowid())
    }

    fn changes(&mut self, connection: Resource<Connection>) -> u64 {
        of(self, &connection).map_or(0, |connection| lock(&connection).changes())
    }

    fn drop(&mut self, connection: Resource<Connection>) -> wasmtime::Result<()> {
        self.table.delete(connection)?;
        Ok(())
    }
}

impl<T: 'static> HostConnectionWithStore<T> for HasSelf<State> {
    async fn open_async(
        accessor: &Accessor<T, Self>,
        database: String,
    ) -> Result<Resource<Connection>, Error> {
        accessor.with(|mut access| open(access.get(), &database))
    }

    async fn execute_async(
        accessor: &Accessor<T, Self>,
        connection: Resource<Connection>,
        statement: String,
        parameters: Vec<Value>,
    ) -> Result<(Vec<String>, StreamReader<RowResult>, FutureReader<Result<(), Error>>), Error> {
        let connection = accessor.with(|mut access| of(access.get(), &connection))?;
        let found = tokio::task::spawn_blocking(move || run(&connection, &statement, parameters))
            .await
            .map_err(|error| Error::Io(error.to_string()))??;
        accessor.with(|mut access| {
            let rows = StreamReader::new(&mut access, found.rows).map_err(internal)?;
            let failed = found.failed;
            let ended = FutureReader::new(&mut access, async move { Ok::<_, wasmtime::Error>(failed) });
            Ok((found.columns, rows, ended.map_err(internal)?))
        })
    }

    async fn last_insert_rowid_async(accessor: &Accessor<T, Self>, connection: Resource<Connection>) -> i64 {
        accessor.with(|mut access| access.get().last_insert_rowid(connection))
    }

    async fn changes_async(accessor: &Accessor<T, Self>, connection: Resource<Connection>) -> u64 {
        accessor.with(|mut access| access.get().changes(connection))
    }
}

fn internal(error: wasmtime::Error) -> Error {
    Error::Io(error.to_string())
}

fn open(state: &mut State, database: &str) -> Result<Resource<Connection>, Error> {
    if database != "default" {
        return Err(Error::NoSuchDatabase);
    }
    let connection = rusqlite::Connection::open(&state.shared.database).map_err(io)?;
    state
        .table
        .push(Connection(Arc::new(Mutex::new(connection))))
        .map_err(|error| Error::Io(error.to_string()))
}

fn of(
    state: &mut State,
    connection: &Resource<Connection>,
) -> Result<Arc<Mutex<rusqlite::Connection>>, Error> {
    state.table.get(connection).map(|connection| connection.0.clone()).map_err(|_| Error::InvalidConnection)
}

fn lock(connection: &Mutex<rusqlite::Connection>) -> std::sync::MutexGuard<'_, rusqlite::Connection> {
    connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn io(error: rusqlite::Error) -> Error {
    Error::Io(error.to_string())
}

/// What a statement gave, up to where it failed.
struct Found {
    columns: Vec<String>,
    rows: Vec<RowResult>,
    failed: Result<(), Error>,
}

fn run(
    connection: &Mutex<rusqlite::Connection>,
    statement: &str,
    parameters: Vec<Value>,
) -> Result<Found, Error> {
    let connection = lock(connection);
    let mut prepared = connection.prepare_cached(statement).map_err(io)?;
    let columns: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    let parameters = parameters.into_iter().map(|value| match value {
        Value::Integer(number) => Stored::Integer(number),
        Value::Real(number) => Stored::Real(number),
        Value::Text(text) => Stored::Text(text),
        Value::Blob(bytes) => Stored::Blob(bytes),
        Value::Null => Stored::Null,
    });
    let mut found = prepared.query(rusqlite::params_from_iter(parameters)).map_err(io)?;
    let mut rows = Vec::new();
    let failed = loop {
        match found.next() {
            Ok(None) => break Ok(()),
            Ok(Some(row)) => {
                let values =
                    (0..columns.len()).map(|at| Ok(read(row.get_ref(at)?))).collect::<rusqlite::Result<_>>();
                match values {
                    Ok(values) => rows.push(RowResult { values }),
                    Err(error) => break Err(io(error)),
                }
            }
            Err(error) => break Err(io(error)),
        }
    };
    Ok(Found { columns, rows, failed })
}

fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}
