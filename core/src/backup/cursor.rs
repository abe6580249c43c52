//! How far a dump is.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::tables::{Key, TABLES, Table, Undo};
use crate::ports::Value;

/// What comes next. Its JSON stands in the dump's row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub(super) enum Cursor {
    /// Rows of a table that haven't changed since the dump began.
    Rows {
        /// The table.
        table: String,
        /// The primary key of the last row that was read.
        after: Vec<Json>,
    },
    /// What rows of a table were that have changed.
    Undone {
        /// The table.
        table: String,
        /// The key of the last row that was read; None before the first.
        after: Option<Json>,
    },
    /// The index, of a dump that ended then.
    Index {
        /// Chosen once, so that the index is the same whoever writes it.
        finished_at: i64,
    },
}

impl Cursor {
    /// Before the first row.
    pub(super) fn start() -> Self {
        let [first, ..] = &TABLES;
        Self::rows_of(first)
    }

    fn rows_of(table: &Table) -> Self {
        Self::Rows { table: table.name.to_owned(), after: table.key.iter().map(|key| least(*key)).collect() }
    }

    /// Where to go on behind a table's rows, or what they were; None at the end.
    pub(super) fn behind(&self) -> Option<Self> {
        let (name, has_more) = match self {
            Self::Rows { table, .. } => (table, true),
            Self::Undone { table, .. } => (table, false),
            Self::Index { .. } => return None,
        };
        let at = TABLES.iter().position(|table| table.name == name)?;
        let table = TABLES.get(at)?;
        if has_more && table.undo != Undo::None {
            return Some(Self::Undone { table: name.clone(), after: None });
        }
        TABLES.get(at + 1).map(Self::rows_of)
    }
}

/// Less than every key.
fn least(key: Key) -> Json {
    match key {
        Key::Number(_) => Json::from(0),
        Key::Text(_) => Json::from(""),
    }
}

/// A key, to be bound.
pub(super) fn bound(json: &Json) -> Value {
    match json {
        Json::Number(number) => number.as_i64().map_or(Value::Null, Value::Integer),
        Json::String(text) => Value::Text(text.clone()),
        _ => Value::Null,
    }
}
