//! GET of the spaces that the caller is a member of.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::spaces;
use serde::Serialize;
use utoipa::ToSchema;

use super::Space;
use crate::credentials;
use crate::rest::json;
use crate::rest::query::Query;

/// The oldest first.
#[derive(Serialize, ToSchema)]
struct Spaces {
    spaces: Vec<Space>,
}

/// The caller's spaces, the oldest first.
#[utoipa::path(
    get, path = "/api/v1/spaces",
    responses((status = 200, description = "The oldest 1,000.", body = Spaces)),
)]
pub(crate) async fn list<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let spaces = spaces::list(platform, &token).await?;
    json(StatusCode::OK, &Spaces { spaces: spaces.into_iter().map(Space::from).collect() })
}
