//! `/api/v1/spaces/{space}/folders/{path}`: folders.

mod delete;
mod list;
mod put;

pub(crate) use delete::delete;
pub(crate) use list::list;
pub(crate) use put::put;

use ledge_core::tree::{Address, Node};
use serde::Serialize;

use crate::headers::rfc3339;

/// A folder.
#[derive(Serialize)]
struct Folder<'a> {
    id: &'a str,
    name: &'a str,
    kind: &'a str,
    created_at: String,
    modified_at: String,
}

impl<'a> Folder<'a> {
    fn new(node: &'a Node, address: &'a Address) -> Self {
        Self {
            id: node.id.as_str(),
            // A space's root has no name.
            name: address.path.last().map(|name| name.as_str()).unwrap_or_default(),
            kind: "folder",
            created_at: rfc3339(node.created_at),
            modified_at: rfc3339(node.modified_at),
        }
    }
}
