//! `/api/v1/jobs`: background work.

mod cancel;
mod counts;
mod get;
mod list;
mod retry;

pub(crate) use cancel::cancel;
pub(crate) use counts::counts;
pub(crate) use get::get;
pub(crate) use list::list;
pub(crate) use retry::retry;

use http::{HeaderValue, Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::ids::JobId;
use ledge_core::jobs;
use ledge_core::plan::ReadPlan;
use serde::Serialize;
use utoipa::ToSchema;

use crate::headers::rfc3339;
use crate::openapi::words::{Lane, State, Time};
use crate::rest::json;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, get::get, cancel::cancel, retry::retry, counts::counts))]
pub(crate) struct Documented;

/// A piece of background work.
#[derive(Serialize, ToSchema)]
pub(crate) struct Job {
    id: String,
    #[schema(value_type = Lane)]
    lane: String,
    /// What kind of work it is.
    kind: String,
    #[schema(value_type = State)]
    state: &'static str,
    /// How often it was begun since it last made a step.
    attempts: u64,
    /// Why the last attempt failed.
    #[schema(required)]
    error: Option<String>,
    progress: Progress,
    /// What came of it, once it is done.
    #[schema(value_type = Object, nullable)]
    result: serde_json::Value,
    cancel_requested: bool,
    #[schema(required)]
    account_id: Option<String>,
    #[schema(required)]
    space_id: Option<String>,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(value_type = Time)]
    updated_at: String,
    /// When it is begun, or tried again, or taken over from a worker that doesn't come back.
    #[schema(required, value_type = Option<Time>)]
    due_at: Option<String>,
    #[schema(required, value_type = Option<Time>)]
    finished_at: Option<String>,
}

/// How much is done; totals are null where they aren't known.
#[derive(Serialize, ToSchema)]
struct Progress {
    items_done: u64,
    #[schema(required)]
    items_total: Option<u64>,
    bytes_done: u64,
    #[schema(required)]
    bytes_total: Option<u64>,
}

impl From<jobs::Job> for Job {
    fn from(job: jobs::Job) -> Self {
        Self {
            id: job.id.to_string(),
            lane: job.lane,
            kind: job.kind,
            state: job.state.name(),
            attempts: job.attempts,
            error: job.error,
            progress: Progress {
                items_done: job.progress.items_done,
                items_total: job.progress.items_total,
                bytes_done: job.progress.bytes_done,
                bytes_total: job.progress.bytes_total,
            },
            result: job.result,
            cancel_requested: job.cancel_requested,
            account_id: job.account.map(|id| id.to_string()),
            space_id: job.space.map(|id| id.to_string()),
            created_at: rfc3339(job.created_at),
            updated_at: rfc3339(job.updated_at),
            due_at: job.due_at.map(rfc3339),
            finished_at: job.finished_at.map(rfc3339),
        }
    }
}

/// Where to watch a job.
pub(crate) fn location(id: &JobId) -> String {
    format!("/api/v1/jobs/{id}")
}

/// 202: a job does what was asked for. `Location` says where to watch it.
pub(crate) fn accepted(job: jobs::Job) -> Result<Response<ReadPlan>> {
    let location = location(&job.id);
    let mut response = json(StatusCode::ACCEPTED, &Job::from(job))?;
    let location = HeaderValue::try_from(location).map_err(|error| Error::Internal(error.to_string()))?;
    response.headers_mut().insert(header::LOCATION, location);
    Ok(response)
}
