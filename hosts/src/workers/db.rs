//! `Db` over D1.

use std::rc::Rc;

use js_sys::{Array, Object, Reflect};
use ledge_core::ports::{Db, DbError, Row, Rows, Statement, Value};
use wasm_bindgen::{JsCast, JsValue};
use worker_sys::{D1DatabaseSession, D1PreparedStatement, D1Result};

use super::js;

/// A D1 database, in one session for each request.
///
/// The session begins at the primary and may go on at a replica that has caught up with it, so a request sees
/// all that any earlier one wrote. Beginning at a replica takes a bookmark that travels with the client; no
/// port carries one yet.
#[derive(Debug, Clone)]
pub struct D1 {
    session: D1DatabaseSession,
}

impl D1 {
    pub(super) fn new(database: worker::D1Database) -> worker::Result<Self> {
        let session = database.with_session_constraint(worker::D1SessionConstraint::FirstPrimary)?;
        Ok(Self { session: JsValue::from(session).unchecked_into() })
    }

    async fn run(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let statements: Array = batch
            .iter()
            .map(|statement| self.prepare(statement).map(JsValue::from))
            .collect::<Result<_, _>>()
            .map_err(|thrown| DbError::Rejected(js::reason(&thrown)))?;
        let results =
            js::settle(self.session.session_batch(statements)).await.map_err(|thrown| failure(&thrown))?;
        results
            .dyn_into::<Array>()
            .map_err(|_| unexpected("no list of results"))?
            .iter()
            .map(|result| rows(result.unchecked_ref()))
            .collect()
    }

    fn prepare(&self, statement: &Statement) -> Result<D1PreparedStatement, JsValue> {
        let prepared = self.session.session_prepare(&statement.sql)?;
        if statement.params.is_empty() {
            return Ok(prepared);
        }
        prepared.bind(statement.params.iter().map(bound).collect())
    }
}

impl Db for D1 {
    type Detached = Self;

    fn detached(&self) -> Self {
        self.clone()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.run(batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.run(batch).await
    }
}

#[expect(clippy::cast_precision_loss, reason = "the port's integers are within 2^53")]
fn bound(value: &Value) -> JsValue {
    match value {
        Value::Null => JsValue::NULL,
        Value::Integer(number) => JsValue::from_f64(*number as f64),
        Value::Real(number) => JsValue::from_f64(*number),
        Value::Text(text) => JsValue::from_str(text),
    }
}

fn rows(result: &D1Result) -> Result<Rows, DbError> {
    let Some(found) = result.results().map_err(|_| unexpected("no results"))? else {
        return Ok(Rows::new());
    };
    let Some(first) = found.iter().next() else {
        return Ok(Rows::new());
    };
    let names = Object::keys(first.unchecked_ref::<Object>());
    let columns: Rc<[String]> = names.iter().filter_map(|name| name.as_string()).collect();
    found
        .iter()
        .map(|row| {
            let values = names.iter().map(|name| value(&row, &name)).collect::<Result<_, _>>()?;
            Ok(Row::new(columns.clone(), values))
        })
        .collect()
}

fn value(row: &JsValue, name: &JsValue) -> Result<Value, DbError> {
    let found = Reflect::get(row, name).map_err(|_| unexpected("no row"))?;
    if let Some(number) = found.as_f64() {
        return Ok(Value::Real(number));
    }
    if let Some(text) = found.as_string() {
        return Ok(Value::Text(text));
    }
    if found.is_null() {
        return Ok(Value::Null);
    }
    Err(unexpected("a value that is no number, text or null"))
}

fn unexpected(found: &str) -> DbError {
    DbError::Rejected(format!("D1 answered with {found}"))
}

/// Result codes that say nothing about the statement: the database was busy, or broke down.
const TRANSIENT: [&str; 7] = [
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_INTERRUPT",
    "SQLITE_IOERR",
    "SQLITE_CANTOPEN",
    "SQLITE_NOMEM",
    "SQLITE_FULL",
];

/// SQLite's refusals end in its result code; D1's own, made before SQLite is asked, begin with their name. Of
/// all else (lost connections, overload, resets, time-outs; the texts change) nobody knows whether the batch
/// took effect, and that is what Unavailable means.
fn failure(thrown: &JsValue) -> DbError {
    let message = js::reason(thrown);
    if let Some(refused) = DbError::from_sqlite_message(&message) {
        return refused;
    }
    let refused = message.contains(": SQLITE_") && !TRANSIENT.iter().any(|code| message.contains(code));
    let malformed = message.starts_with("D1_TYPE_ERROR") || message.contains("parameter bindings");
    if refused || malformed { DbError::Rejected(message) } else { DbError::Unavailable(message) }
}
