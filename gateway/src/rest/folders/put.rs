//! PUT of a folder: makes it, or finds it made.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::folders;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use super::Folder;
use crate::address::folder_address;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// 201 with the new folder, 200 with the one that is there.
#[utoipa::path(
    put, path = "/api/v1/spaces/{space}/folders/{path}",
    responses(
        (status = 200, description = "It was there.", body = Folder),
        (status = 201, description = "The new folder.", body = Folder),
        (status = 409, description = "`parent_missing`, `not_a_folder`, `is_a_file` or `contended`."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn put<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let uri = &matched.parts.uri;
    let address = folder_address(matched)?;
    Query::read(uri, &[])?;
    let created = folders::create(platform, &address).await?;
    let status = if created.new { StatusCode::CREATED } else { StatusCode::OK };
    json(status, &Folder::new(&created.node, &address))
}
