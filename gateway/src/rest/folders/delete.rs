//! DELETE of a folder: into the trash, with all that is in it.

use http::Response;
use ledge_core::error::Result;
use ledge_core::nodes::{self, Expected};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use crate::address::folder_address;
use crate::headers::conditions;
use crate::openapi::parameters::Conditions;
use crate::rest::no_content;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Puts the folder into the trash, if it is as the conditions say.
#[utoipa::path(
    delete, path = "/api/v1/spaces/{space}/folders/{path}",
    params(Conditions),
    responses(
        (status = 204, description = "It is in the trash."),
        (status = 409, description = "`not_a_folder`, `is_root` or `contended`."),
        (status = 412, description = "It, or something below it, isn't as the conditions say."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn delete<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let parts = matched.parts;
    let address = folder_address(matched)?;
    Query::read(&parts.uri, &[])?;
    nodes::delete(platform, &address, Expected::Folder(conditions(&parts.headers))).await?;
    Ok(no_content())
}
