//! GET of one's jobs.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::jobs;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;

use crate::credentials;
use crate::headers::rfc3339;
use crate::rest::json;
use crate::rest::query::Query;

/// The newest jobs.
#[derive(Serialize)]
struct Jobs {
    jobs: Vec<Job>,
}

#[derive(Serialize)]
struct Job {
    id: String,
    kind: String,
    state: &'static str,
    attempts: u64,
    error: Option<String>,
    created_at: String,
    updated_at: String,
}

/// The caller's newest jobs, newest first.
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
