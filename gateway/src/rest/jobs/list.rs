//! GET of one's jobs.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::jobs;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::credentials;
use crate::headers::rfc3339;
use crate::openapi::words::{State, Time};
use crate::rest::json;
use crate::rest::query::Query;

/// The newest jobs.
#[derive(Serialize, ToSchema)]
struct Jobs {
    jobs: Vec<Job>,
}

#[derive(Serialize, ToSchema)]
struct Job {
    id: String,
    kind: String,
    #[schema(value_type = State)]
    state: &'static str,
    attempts: u64,
    #[schema(required)]
    error: Option<String>,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(value_type = Time)]
    updated_at: String,
}

/// The caller's newest jobs, newest first.
#[utoipa::path(
    get, path = "/api/v1/jobs",
    responses((status = 200, description = "The newest 100.", body = Jobs)),
)]
pub(crate) async fn list<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let jobs = jobs::find(platform, &token).await?;
    let job = |job: jobs::Job| Job {
        id: job.id.to_string(),
        kind: job.kind,
        state: job.state.name(),
        attempts: job.attempts,
        error: job.error,
        created_at: rfc3339(job.created_at),
        updated_at: rfc3339(job.updated_at),
    };
    json(StatusCode::OK, &Jobs { jobs: jobs.into_iter().map(job).collect() })
}
