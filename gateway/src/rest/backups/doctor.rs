//! POST that has the drive examined.

use http::Response;
use http::request::Parts;
use ledge_core::doctor;
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use crate::credentials;
use crate::rest::jobs::{Job, accepted};
use crate::rest::query::Query;

/// Has a job find out whether database and bucket fit together: the bucket's listing beside the rows, extents beside
/// segments, sizes, checksums, counters. The job's result is the report: `faults` of 0 says that all is well. Where an
/// examination is under way, answers with its job. For administrators.
#[utoipa::path(
    post, path = "/api/v1/admin/doctor",
    params(("content" = Option<bool>, Query, description = "Whether to read all content, too, and compare its checksums.")),
    responses((status = 202, description = "The job.", body = Job)),
)]
pub(crate) async fn doctor<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    let content = Query::read(&parts.uri, &["content"])?.is_true("content")?;
    accepted(doctor::ask(platform, &token, content).await?)
}
