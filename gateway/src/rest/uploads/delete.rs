//! DELETE of an upload: it is abandoned.

use http::Response;
use http::request::Parts;
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::uploads;

use super::{id, other_version};
use crate::credentials;
use crate::rest::no_content;
use crate::rest::query::Query;

/// Abandons the upload: 204. What it held of the quota is free again.
#[utoipa::path(
    delete, path = "/api/v1/uploads/{id}",
    params(("Tus-Resumable" = String, Header, description = "`1.0.0`.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 412, description = "`precondition_failed`: without `Tus-Resumable: 1.0.0`."),
    ),
)]
pub(crate) async fn delete<P: Platform>(platform: &P, parts: &Parts, at: &str) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    if let Some(refused) = other_version(&parts.headers) {
        return Ok(refused);
    }
    uploads::abandon(platform, &token, id(at)?.as_str()).await?;
    Ok(no_content())
}
