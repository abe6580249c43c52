//! PUT of a folder: makes it, or finds it made.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::folders;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;

use crate::address::address;
use crate::headers::rfc3339;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// A folder.
#[derive(Serialize)]
struct Folder<'a> {
    id: &'a str,
    name: &'a str,
    kind: &'a str,
    created_at: String,
    modified_at: String,
}

/// 201 with the new folder, 200 with the one that is there.
pub(crate) async fn put<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    // A folder's URL may end with a slash.
    let path = matched.path.strip_suffix('/').unwrap_or(matched.path);
    let address = address(&Matched { path, ..matched })?;
    Query::read(&matched.parts.uri, &[])?;
    let created = folders::create(platform, &address).await?;
    let folder = Folder {
        id: created.node.id.as_str(),
        name: address.path.last().map(|name| name.as_str()).unwrap_or_default(),
        kind: "folder",
        created_at: rfc3339(created.node.created_at),
        modified_at: rfc3339(created.node.modified_at),
    };
    json(if created.new { StatusCode::CREATED } else { StatusCode::OK }, &folder)
}
