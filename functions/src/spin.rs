//! The entry point for Spin: `POST /internal/jobs/run`, with the secret that it shares with the gateway.
//!
//! With `?job=ID`, which is how the gateway wakes it, it works on that job; without, it does what is due by the clock. A
//! cron job sends the latter. It answers 204 when it has done what it could in one go.

use ::http::{Method, StatusCode};
use ledge_core::ids::JobId;
use ledge_core::ports::{Host, Platform};
use ledge_hosts::spin::wasip3::exports::http::handler::Guest;
use ledge_hosts::spin::wasip3::http::types::{self, ErrorCode};
use ledge_hosts::spin::{self, SECRET_HEADER, Spin, http, wasip3};

/// No further job is begun after this time; the rest waits for the next sweep.
const JOBS_MILLIS: i64 = 30_000;

struct Functions;

wasip3::http::service::export!(Functions);

impl Guest for Functions {
    async fn handle(raw: types::Request) -> Result<types::Response, ErrorCode> {
        http::bare(answer(&raw).await)
    }
}

async fn answer(raw: &types::Request) -> StatusCode {
    let target = raw.get_path_with_query().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    if path != "/internal/jobs/run" {
        return StatusCode::NOT_FOUND;
    }
    if Method::try_from(raw.get_method()).ok() != Some(Method::POST) {
        return StatusCode::METHOD_NOT_ALLOWED;
    }
    let job = match query.strip_prefix("job=").map(JobId::parse) {
        Some(None) => return StatusCode::BAD_REQUEST,
        Some(job) => job,
        None => None,
    };
    let secret = raw.get_headers().get(SECRET_HEADER).into_iter().next().unwrap_or_default();
    match spin::functions(&secret).await {
        Ok(Some(ports)) => {
            run(&ports, job).await;
            StatusCode::NO_CONTENT
        }
        Ok(None) => StatusCode::FORBIDDEN,
        Err(error) => {
            eprintln!("ledge: {error}");
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

/// Works on a job, or on what is due, and on what that leads to.
async fn run(ports: &Spin, job: Option<JobId>) {
    let begun = ports.host().now();
    match job {
        Some(job) => drop(crate::run(ports, &job).await),
        // What was to be sent for later is sent by nobody: all that waits is lost.
        None => crate::tick(ports, Some(0)).await,
    }
    while ports.host().now().0 < begun.0.saturating_add(JOBS_MILLIS)
        && let Some(job) = ports.queue.take()
    {
        // One that should come again later is due later: the sweep finds it.
        crate::run(ports, &job).await;
    }
}
