//! PUT of a folder: makes it, or finds it made.

use http::{Response, StatusCode, header};
use ledge_core::error::Result;
use ledge_core::folders::{self, Create};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use super::Folder;
use crate::address::folder_address;
use crate::headers::{conditions, quoted, set};
use crate::openapi::parameters::Conditions;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// 201 with the new folder, 200 with the one that is there.
#[utoipa::path(
    put, path = "/api/v1/spaces/{space}/folders/{path}",
    params(
        ("parents" = Option<bool>, Query, description = "Whether folders that are missing on the way are made too."),
        Conditions,
    ),
    responses(
        (status = 200, description = "It was there.", body = Folder, headers(("ETag" = String))),
        (status = 201, description = "The new folder.", body = Folder, headers(("ETag" = String))),
        (status = 409, description = "`parent_missing`, `not_a_folder`, `is_a_file` or `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn put<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let parts = matched.parts;
    let address = folder_address(matched)?;
    let query = Query::read(&parts.uri, &["parents"])?;
    let create = Create {
        parents: query.is_true("parents")?,
        conditions: conditions(&parts.headers),
        address: address.clone(),
    };
    let created = folders::create(platform, &create).await?;
    let status = if created.new { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = json(status, &Folder::new(&created.node, &address))?;
    set(response.headers_mut(), header::ETAG, quoted(&created.node.etag()));
    Ok(response)
}
