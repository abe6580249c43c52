//! DELETE of a version.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::versions::{self, Delete};

use super::named;
use crate::address::address;
use crate::headers::conditions;
use crate::openapi::parameters::Conditions;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Deletes the version that the query names: 204.
#[utoipa::path(
    delete, path = "/api/v1/spaces/{space}/versions/{path}",
    params(
        ("version" = String, Query, description = "The version's id."),
        Conditions,
    ),
    responses(
        (status = 204, description = "It is gone, and the space has its bytes again."),
        (status = 409, description = "`current_version`, `is_a_folder` or `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn delete<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let version = named(&Query::read(&matched.parts.uri, &["version"])?)?;
    let request = Delete { address, version, conditions: conditions(&matched.parts.headers) };
    versions::delete(platform, &request).await?;
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
