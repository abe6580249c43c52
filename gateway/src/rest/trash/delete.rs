//! DELETE of what is in the trash: for good.

use http::Response;
use ledge_core::error::{Error, Result};
use ledge_core::ids::NodeId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::trash::{self, Purged};

use crate::address::space;
use crate::rest::jobs::{Job, accepted};
use crate::rest::no_content;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Purges one node, with all below.
#[utoipa::path(
    delete, path = "/api/v1/spaces/{space}/trash/{id}",
    responses(
        (status = 202, description = "It is out of the trash; the job removes it.", body = Job),
        (status = 204, description = "It is gone."),
        (status = 409, description = "`contended`."),
    ),
)]
pub(crate) async fn purge<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let id = NodeId::parse(matched.path).ok_or(Error::NotFound)?;
    answer(trash::purge(platform, &token, &space, &Purged::Node(id)).await?)
}

/// Purges everything.
#[utoipa::path(
    delete, path = "/api/v1/spaces/{space}/trash",
    responses(
        (status = 202, description = "It is out of the trash; the job removes it.", body = Job),
        (status = 204, description = "All is gone."),
        (status = 409, description = "`contended`."),
    ),
)]
pub(crate) async fn empty<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    answer(trash::purge(platform, &token, &space, &Purged::Everything).await?)
}

fn answer(job: Option<ledge_core::jobs::Job>) -> Result<Response<ReadPlan>> {
    job.map_or_else(|| Ok(no_content()), accepted)
}
