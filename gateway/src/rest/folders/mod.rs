//! `/api/v1/spaces/{space}/folders/{path}`: folders.

mod delete;
mod list;
mod put;

pub(crate) use delete::delete;
pub(crate) use list::list;
pub(crate) use put::put;

use ledge_core::tree::{Address, Node};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::headers::{quoted, rfc3339};
use crate::openapi::words::{Kind, Time};

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, put::put, delete::delete))]
pub(crate) struct Documented;

/// A folder.
#[derive(Serialize, ToSchema)]
#[schema(as = Folder)]
struct Folder<'a> {
    id: &'a str,
    name: &'a str,
    #[schema(value_type = Kind)]
    kind: &'a str,
    etag: String,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(value_type = Time)]
    modified_at: String,
    /// With `sizes=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<list::Sizes>)]
    sizes: Option<&'a RawValue>,
}

impl<'a> Folder<'a> {
    fn new(node: &'a Node, address: &'a Address) -> Self {
        Self {
            id: node.id.as_str(),
            // A space's root has no name.
            name: address.path.last().map(|name| name.as_str()).unwrap_or_default(),
            kind: "folder",
            etag: quoted(&node.etag()),
            created_at: rfc3339(node.created_at),
            modified_at: rfc3339(node.modified_at),
            sizes: None,
        }
    }
}
