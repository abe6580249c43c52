//! DELETE of a file: into the trash.

use http::Response;
use ledge_core::error::Result;
use ledge_core::nodes::{self, Expected};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use crate::address::address;
use crate::headers::conditions;
use crate::openapi::parameters::Conditions;
use crate::rest::no_content;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Puts the file into the trash, if it is as the conditions say.
#[utoipa::path(
    delete, path = "/api/v1/spaces/{space}/files/{path}",
    params(Conditions),
    responses(
        (status = 204, description = "It is in the trash."),
        (status = 409, description = "`is_a_folder` or `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn delete<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let expected = Expected::File(conditions(&matched.parts.headers));
    nodes::delete(platform, &address, expected).await?;
    Ok(no_content())
}
