//! GET of a file's versions.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::ids::VersionId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::versions;
use serde::Serialize;
use utoipa::ToSchema;

use super::Version;
use crate::address::address;
use crate::openapi::parameters;
use crate::rest::query::Query;
use crate::rest::{cursor, json};
use crate::routes::Matched;

/// A page of a history.
#[derive(Serialize, ToSchema)]
struct Versions {
    versions: Vec<Version>,
    #[schema(required)]
    next: Option<String>,
}

/// A page of the history, newest first.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/versions/{path}",
    params(parameters::Page),
    responses(
        (status = 200, description = "A page of the history.", body = Versions),
        (status = 409, description = "`is_a_folder`."),
    ),
)]
pub(crate) async fn list<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let query = Query::read(&matched.parts.uri, &["cursor", "limit"])?;
    let (after, limit) = cursor::page(&query, VersionId::parse)?;
    let page = versions::list(platform, &address, after, limit).await?;
    let last = page.versions.last().filter(|_| page.more);
    let next = last.map(|last| cursor::after(last.created_at, last.id.as_str()));
    let versions = page.versions.into_iter().map(Version::from).collect();
    json(StatusCode::OK, &Versions { versions, next })
}
