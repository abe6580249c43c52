//! GET of a job.

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

/// A job of the account's; administrators see every one.
#[utoipa::path(
    get, path = "/api/v1/jobs/{id}",
    responses((status = 200, description = "The job.", body = Job)),
)]
pub(crate) async fn get<P: Platform>(platform: &P, parts: &Parts, id: &str) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let id = JobId::parse(id).ok_or(Error::NotFound)?;
    let job = jobs::find(platform, &token, &id).await?;
    json(StatusCode::OK, &Job::from(job))
}
