//! JSON bodies: a handler names the members that it knows, and an unknown one is an error and not a surprise.

use ledge_core::error::{Error, Result};
use ledge_core::ports::Upload;
use serde_json::{Map, Value};

use super::body;

/// The members of a JSON object.
pub(super) struct Members(Map<String, Value>);

impl Members {
    /// Reads a body, whose members must be `known`.
    pub(super) async fn read<U: Upload>(upload: U, known: &[&'static str]) -> Result<Self> {
        let members: Map<String, Value> = body::read(upload).await?;
        match members.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Error::invalid("body", format!("unknown member {name:?}"))),
            None => Ok(Self(members)),
        }
    }

    /// Whether the member is there, null or not.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A text; None where it is null or not there.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Error::invalid(name, "expected a text")),
        }
    }

    /// A number that counts something; None where it is null or not there.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<u64>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let expected = || Error::invalid(name, "expected a whole number, or null");
                value.as_u64().map(Some).ok_or_else(expected)
            }
        }
    }

    /// A list of texts; None where it is null or not there.
    pub(super) fn texts(&self, name: &'static str) -> Result<Option<Vec<&str>>> {
        let expected = || Error::invalid(name, "expected a list of texts");
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.as_str().ok_or_else(expected)).collect::<Result<_>>().map(Some)
            }
            Some(_) => Err(expected()),
        }
    }
}
