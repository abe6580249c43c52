//! DELETE of a token: revokes it.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::ids::TokenId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::tokens;

use crate::credentials;
use crate::rest::query::Query;

/// Revokes the token with this id: 204. It is turned away from the next request on.
#[utoipa::path(
    delete, path = "/api/v1/tokens/{id}",
    responses((status = 204, description = "It is turned away from the next request on.")),
)]
pub(crate) async fn delete<P: Platform>(platform: &P, parts: &Parts, id: &str) -> Result<Response<ReadPlan>> {
    let asking = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let id = TokenId::parse(id).ok_or(Error::NotFound)?;
    tokens::revoke(platform, &asking, &id).await?;
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
