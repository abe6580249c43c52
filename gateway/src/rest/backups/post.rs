//! POST that has a dump made.

use http::Response;
use http::request::Parts;
use ledge_core::backup;
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use crate::credentials;
use crate::rest::jobs::{Job, accepted};
use crate::rest::query::Query;

/// Has the metadata dumped into the bucket now. Where a dump is under way, answers with its job. For administrators.
#[utoipa::path(
    post, path = "/api/v1/admin/backups",
    responses((status = 202, description = "The job, whose id is the dump's.", body = Job)),
)]
pub(crate) async fn post<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    accepted(backup::ask(platform, &token).await?)
}
