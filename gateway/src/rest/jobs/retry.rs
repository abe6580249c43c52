//! POST that has a job begun again.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::ids::JobId;
use ledge_core::jobs;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use super::Job;
use crate::credentials;
use crate::rest::json;
use crate::rest::query::Query;

/// Begins a job again that was given up or cancelled, where it had come to; and one that waits for another attempt now. Safe
/// to repeat.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/retry",
    responses(
        (status = 200, description = "The job, which is under way.", body = Job),
        (status = 409, description = "`job_over`: it is done. `job_under_way`: there may be only one of its kind, and there is another."),
    ),
)]
pub(crate) async fn retry<P: Platform>(platform: &P, parts: &Parts, id: &str) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let id = JobId::parse(id).ok_or(Error::NotFound)?;
    let job = jobs::retry(platform, &token, &id).await?;
    json(StatusCode::OK, &Job::from(job))
}
