//! GET of a node: what it is and where, by id or by path.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::ids::NodeId;
use ledge_core::nodes::{self, Target};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::{folder_address, space};
use crate::rest::entry::Entry;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// A node and the way to it.
#[derive(Serialize, ToSchema)]
#[schema(as = NodeAtPath)]
struct Found {
    #[serde(flatten)]
    node: Entry,
    /// The names from the space's top folder.
    path: Vec<String>,
}

/// The node with an id, wherever it has moved.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/nodes/{id}",
    responses((status = 200, description = "The node.", body = Found)),
)]
pub(crate) async fn by_id<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let id = NodeId::parse(matched.path).ok_or(Error::NotFound)?;
    answer(nodes::stat(platform, &token, &space, &Target::Id(id)).await?)
}

/// The node at a path, be it a file or a folder.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/nodes/by-path/{path}",
    responses((status = 200, description = "The node.", body = Found)),
)]
pub(crate) async fn by_path<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let uri = &matched.parts.uri;
    let address = folder_address(matched)?;
    Query::read(uri, &[])?;
    answer(nodes::stat(platform, &address.token, &address.space, &Target::from(&address)).await?)
}

fn answer(stat: nodes::Stat) -> Result<Response<ReadPlan>> {
    json(StatusCode::OK, &Found { node: stat.entry.into(), path: stat.path })
}
