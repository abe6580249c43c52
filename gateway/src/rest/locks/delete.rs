//! DELETE of a lock, whoever holds it.

use http::Response;
use ledge_core::error::{Error, Result};
use ledge_core::ids::LockId;
use ledge_core::locks;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use crate::address::space;
use crate::rest::no_content;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Breaks the lock: 204.
#[utoipa::path(
    delete, path = "/api/v1/spaces/{space}/locks/{id}",
    responses((status = 204, description = "It is gone; only the space's owners may.")),
)]
pub(crate) async fn delete<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let id = LockId::parse(matched.path).ok_or(Error::NotFound)?;
    locks::break_lock(platform, &token, &space, &id).await?;
    Ok(no_content())
}
