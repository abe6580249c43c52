//! `Db`: the metadata database.

use std::borrow::Cow;
use std::rc::Rc;

/// A SQL database in the dialect of docs/ARCHITECTURE.md ("SQL, one dialect").
///
/// # Contract
/// - A batch is **atomic**: all of its statements take effect, or none. It is one round trip.
/// - Statements run in the order given, each seeing what the earlier ones wrote.
/// - The result has one [`Rows`] for each statement, in the same order; a statement that returns nothing
///   gives an empty one. Writes return rows through `RETURNING`.
/// - `write` batches are serialised: a batch never sees half of another one.
/// - `read` never writes; it sees every `write` that the same client has seen succeed.
/// - After [`DbError::Violated`], [`DbError::Duplicate`] or [`DbError::Rejected`] nothing of the batch
///   holds. After [`DbError::Unavailable`] from `write` the batch may or may not have taken effect: look
///   before you try again. A cancelled `write` is in the same state.
/// - An empty batch is an empty result without a round trip.
/// - What `detached` gives is the same database, for as long as a response body that reads on while it is sent.
pub trait Db {
    /// The database without what is borrowed around it.
    type Detached: Db + 'static;

    /// Outlives the request's handler.
    fn detached(&self) -> Self::Detached;

    /// Runs statements that only read.
    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError>;

    /// Runs statements that may write, as one transaction.
    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError>;
}

/// One statement with its bound values: `?1` is the first. At most 100 values (D1's limit); lists go in as
/// one JSON array through `json_each`.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The text of a single statement, without a trailing semicolon.
    pub sql: Cow<'static, str>,
    /// The values, in the order of their numbers.
    pub params: Vec<Value>,
}

impl Statement {
    /// A statement without values yet.
    pub fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), params: Vec::new() }
    }

    /// Binds the next value.
    #[must_use]
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.params.push(value.into());
        self
    }
}

/// A value that crosses to the database and back. No blobs: they cross D1 as arrays of numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A whole number within ±2^53. Bound numbers may arrive in SQL as reals (D1): put them into INTEGER
    /// columns or compare them, but don't turn them into text there.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// UTF-8 text, under 2 MB.
    Text(String),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u64> for Value {
    /// Sizes stay far below 2^53; what doesn't fit is bound as the largest integer and fails its guard.
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// What one statement returned.
pub type Rows = Vec<Row>;

/// One row; columns are read by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    columns: Rc<[String]>,
    values: Vec<Value>,
}

impl Row {
    /// A row whose values stand in the order of `columns`, which the rows of one result share.
    pub fn new(columns: Rc<[String]>, values: Vec<Value>) -> Self {
        Self { columns, values }
    }

    /// The value of a column, or None where the result has no such column.
    pub fn value(&self, column: &str) -> Option<&Value> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.values.get(at)
    }

    /// A text that may not be NULL.
    pub fn text(&self, column: &str) -> Result<&str, DbError> {
        self.text_or_null(column)?.ok_or_else(|| unexpected(column, "text", "null"))
    }

    /// A text, or None for NULL.
    pub fn text_or_null(&self, column: &str) -> Result<Option<&str>, DbError> {
        match self.value(column) {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            Some(_) => Err(unexpected(column, "text", "a number")),
            None => Err(unexpected(column, "text", "no such column")),
        }
    }

    /// A whole number that may not be NULL.
    pub fn integer(&self, column: &str) -> Result<i64, DbError> {
        self.integer_or_null(column)?.ok_or_else(|| unexpected(column, "an integer", "null"))
    }

    /// A whole number, or None for NULL. Whole reals count: JavaScript has only those.
    pub fn integer_or_null(&self, column: &str) -> Result<Option<i64>, DbError> {
        match self.value(column) {
            Some(Value::Integer(number)) => Ok(Some(*number)),
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
            Some(Value::Real(number)) if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 => {
                Ok(Some(*number as i64))
            }
            Some(Value::Null) => Ok(None),
            Some(_) => Err(unexpected(column, "an integer", "another type")),
            None => Err(unexpected(column, "an integer", "no such column")),
        }
    }

    /// A size, a count or a key: a whole number that is not negative.
    pub fn unsigned(&self, column: &str) -> Result<u64, DbError> {
        u64::try_from(self.integer(column)?).map_err(|_| unexpected(column, "a size", "a negative number"))
    }
}

fn unexpected(column: &str, wanted: &str, found: &str) -> DbError {
    DbError::Rejected(format!("column {column}: expected {wanted}, found {found}"))
}

/// Why a batch failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DbError {
    /// A named CHECK constraint refused a row: the name is the reason that the statement's author chose.
    #[error("constraint {0} is violated")]
    Violated(String),
    /// A unique index refused a row; names the columns or the index.
    #[error("duplicate in {0}")]
    Duplicate(String),
    /// The database refused the statement, or answered in a shape that it shouldn't: a bug, never input.
    #[error("the database refused a statement: {0}")]
    Rejected(String),
    /// The database can't be reached or didn't answer. A `write` may have taken effect.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
}

impl DbError {
    /// Reads SQLite's message, which is all that some hosts hand over. `message` may carry a host's own
    /// prefix and suffix around it, separated by `": "`.
    pub fn from_sqlite_message(message: &str) -> Option<Self> {
        let named = |marker: &str| {
            let (_, rest) = message.split_once(marker)?;
            Some(rest.split(": ").next().unwrap_or(rest).trim().to_owned())
        };
        if let Some(name) = named("CHECK constraint failed: ") {
            return Some(Self::Violated(name));
        }
        named("UNIQUE constraint failed: ").map(Self::Duplicate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraint_names_are_read_from_every_hosts_message() {
        for message in [
            "CHECK constraint failed: quota_exceeded",
            "D1_ERROR: CHECK constraint failed: quota_exceeded: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_CHECK)",
        ] {
            assert_eq!(
                DbError::from_sqlite_message(message),
                Some(DbError::Violated("quota_exceeded".to_owned()))
            );
        }
        assert_eq!(
            DbError::from_sqlite_message(
                "D1_ERROR: UNIQUE constraint failed: nodes.parent_id, nodes.name_nfc: X"
            ),
            Some(DbError::Duplicate("nodes.parent_id, nodes.name_nfc".to_owned()))
        );
        assert_eq!(DbError::from_sqlite_message("no such table: nodes"), None);
    }

    #[test]
    fn whole_reals_are_integers_and_broken_ones_are_not() {
        let columns: Rc<[String]> = vec!["n".to_owned()].into();
        let row = |value| Row::new(columns.clone(), vec![value]);
        assert_eq!(row(Value::Real(3.0)).integer("n"), Ok(3));
        assert!(row(Value::Real(3.5)).integer("n").is_err());
        assert!(row(Value::Real(f64::NAN)).integer("n").is_err());
        assert!(row(Value::Integer(-1)).unsigned("n").is_err());
        assert!(row(Value::Null).integer("n").is_err());
        assert!(row(Value::Null).integer("other").is_err());
    }
}
