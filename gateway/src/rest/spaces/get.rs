//! GET of a space: how much it holds, what it keeps, and who one is in it.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::spaces;

use super::Space;
use crate::address::space;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// A space.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}",
    responses((status = 200, description = "The space.", body = Space)),
)]
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, id) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    json(StatusCode::OK, &Space::from(spaces::find(platform, &token, &id).await?))
}
