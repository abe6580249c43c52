//! POST that ends a job.

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

/// Ends a job: at once if it waits, else as soon as its worker notices: `cancel_requested`. Safe to repeat.
#[utoipa::path(
    post, path = "/api/v1/jobs/{id}/cancel",
    responses(
        (status = 200, description = "The job, which is cancelled or will be.", body = Job),
        (status = 409, description = "`job_over`: it is done, or given up."),
    ),
)]
pub(crate) async fn cancel<P: Platform>(platform: &P, parts: &Parts, id: &str) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let id = JobId::parse(id).ok_or(Error::NotFound)?;
    let job = jobs::cancel(platform, &token, &id).await?;
    json(StatusCode::OK, &Job::from(job))
}
