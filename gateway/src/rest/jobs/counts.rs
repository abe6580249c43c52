//! GET of how many jobs there are, for administrators.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::jobs::{self, LaneCounts};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::credentials;
use crate::headers::rfc3339;
use crate::openapi::words::{Lane, Time};
use crate::rest::json;
use crate::rest::query::Query;

/// How many jobs there are of all accounts.
#[derive(Serialize, ToSchema)]
struct Counts {
    lanes: Vec<Lanes>,
}

/// How many a lane has.
#[derive(Serialize, ToSchema)]
struct Lanes {
    #[schema(value_type = Lane)]
    lane: &'static str,
    /// Waiting for a worker.
    pending: u64,
    /// Being worked on.
    processing: u64,
    /// Waiting for another attempt.
    retry: u64,
    /// Given up: somebody should look at them.
    dead: u64,
    /// When the oldest that is neither over nor given up was asked for.
    #[schema(required, value_type = Option<Time>)]
    oldest_at: Option<String>,
    /// How long ago that was.
    #[schema(required)]
    oldest_age_secs: Option<i64>,
}

/// How many jobs each lane has, and how old the oldest is. For administrators.
#[utoipa::path(
    get, path = "/api/v1/admin/jobs",
    responses((status = 200, description = "The counts.", body = Counts)),
)]
pub(crate) async fn counts<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let (lanes, now) = jobs::counts(platform, &token).await?;
    json(StatusCode::OK, &Counts { lanes: lanes.into_iter().map(|lane| shown(lane, now)).collect() })
}

fn shown(counts: LaneCounts, now: Timestamp) -> Lanes {
    Lanes {
        lane: counts.lane.name(),
        pending: counts.pending,
        processing: counts.processing,
        retry: counts.retry,
        dead: counts.dead,
        oldest_at: counts.oldest_at.map(rfc3339),
        oldest_age_secs: counts.oldest_at.map(|at| now.0.saturating_sub(at.0).max(0) / 1000),
    }
}
