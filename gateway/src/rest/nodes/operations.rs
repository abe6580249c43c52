//! Operations as JSON, and what became of them.

use ledge_core::error::{Error, Result};
use ledge_core::ids::NodeId;
use ledge_core::nodes::{Expected, OnConflict, Operation, Outcome, Target, To, Verb};
use ledge_core::path::{Name, Path};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::openapi::words;

/// The body of a batch.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    pub(super) operations: Vec<Wanted>,
}

/// One operation.
#[derive(Deserialize, ToSchema)]
#[schema(as = Operation)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    #[schema(value_type = words::Verb)]
    op: String,
    /// Which node: either this or `path`.
    id: Option<String>,
    /// Names between slashes, not encoded; begins with a slash.
    path: Option<String>,
    to: Option<Place>,
    #[schema(value_type = Option<words::Conflict>)]
    conflict: Option<String>,
}

/// A place.
#[derive(Deserialize, Default, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::rest) struct Place {
    /// An id, or a path that begins with a slash.
    parent: Option<String>,
    name: Option<String>,
}

/// What became of a node.
#[derive(Serialize, ToSchema)]
pub(in crate::rest) struct Report {
    #[schema(value_type = words::Verb)]
    op: &'static str,
    id: String,
    #[schema(value_type = words::Kind)]
    kind: &'static str,
    name: String,
    parent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_id: Option<String>,
}

impl Wanted {
    /// As core understands it.
    pub(super) fn read(self) -> Result<Operation> {
        let verb = match self.op.as_str() {
            "move" => Verb::Move,
            "copy" => Verb::Copy,
            "delete" => Verb::Delete,
            "restore" => Verb::Restore,
            _ => return Err(Error::invalid("op", "expected move, copy, delete or restore")),
        };
        let node = match (self.id, self.path) {
            (Some(id), None) => Target::Id(NodeId::parse(&id).ok_or(Error::NotFound)?),
            (None, Some(text)) => Target::Path(path("path", &text)?),
            _ => return Err(Error::invalid("id", "either an id or a path is needed")),
        };
        Ok(Operation {
            verb,
            node,
            to: self.to.unwrap_or_default().read()?,
            conflict: conflict(self.conflict.as_deref())?,
            expected: Expected::Any,
            alone: false,
        })
    }
}

impl Place {
    /// As core understands it.
    pub(in crate::rest) fn read(self) -> Result<To> {
        let parent = self.parent.map(|text| {
            if text.starts_with('/') {
                return Ok(Target::Path(path("to.parent", &text)?));
            }
            NodeId::parse(&text).map(Target::Id).ok_or_else(|| {
                Error::invalid("to.parent", "expected an id, or a path that begins with a slash")
            })
        });
        let name = self.name.map(|name| Name::parse(&name).map_err(|error| in_field(error, "to.name")));
        Ok(To { parent: parent.transpose()?, name: name.transpose()? })
    }
}

/// What to do where a name is taken.
pub(in crate::rest) fn conflict(text: Option<&str>) -> Result<OnConflict> {
    match text {
        None | Some("fail") => Ok(OnConflict::Fail),
        Some("replace") => Ok(OnConflict::Replace),
        Some("rename") => Ok(OnConflict::Rename),
        Some(_) => Err(Error::invalid("conflict", "expected fail, replace or rename")),
    }
}

/// A path in JSON: names between slashes, nothing encoded. It begins with a slash, and may end with one.
pub(in crate::rest) fn path(field: &'static str, text: &str) -> Result<Path> {
    let names =
        text.strip_prefix('/').ok_or_else(|| Error::invalid(field, "expected a slash at the beginning"))?;
    let names = names.strip_suffix('/').unwrap_or(names);
    let path = if names.is_empty() { Ok(Path::default()) } else { Path::parse(names.split('/')) };
    path.map_err(|error| in_field(error, field))
}

fn in_field(error: Error, field: &'static str) -> Error {
    match error {
        Error::Invalid { reason, .. } => Error::Invalid { field, reason },
        error => error,
    }
}

impl From<Outcome> for Report {
    fn from(outcome: Outcome) -> Self {
        Self {
            op: outcome.verb.name(),
            id: outcome.id.to_string(),
            kind: if outcome.is_folder { "folder" } else { "file" },
            name: outcome.name,
            parent_id: outcome.parent.to_string(),
            replaced_id: outcome.replaced.map(|id| id.to_string()),
        }
    }
}
