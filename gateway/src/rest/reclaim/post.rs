//! POST that starts a sweep, or says what one would give back.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::reclaim;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::credentials;
use crate::openapi::words::Reclaimed;
use crate::rest::jobs::{Job, accepted};
use crate::rest::query::Query;
use crate::rest::{body, json};

/// What to do.
#[derive(Deserialize, Default, ToSchema)]
#[schema(as = Reclaim)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only say what a sweep would give back.
    dry_run: bool,
    /// Look through all segments and all objects, for what no sweep knows of.
    full: bool,
}

/// What there is to be given back.
#[derive(Serialize, ToSchema)]
pub(super) struct Report {
    /// How long what nothing needs is kept.
    grace_secs: i64,
    kinds: Vec<Reclaimable>,
}

/// How much there is of a kind.
#[derive(Serialize, ToSchema)]
struct Reclaimable {
    #[schema(value_type = Reclaimed)]
    kind: &'static str,
    /// At most 10,000.
    count: u64,
    /// In the bucket, of those that were counted; null where only a listing would tell.
    #[schema(required)]
    bytes: Option<u64>,
    /// Whether there are more than were counted.
    more: bool,
}

/// Gives back the bytes that nothing needs any more: starts the job that does it, or says what it would do. For
/// administrators.
#[utoipa::path(
    post, path = "/api/v1/admin/reclaim", request_body(content = Option<Wanted>),
    responses(
        (status = 200, description = "What there is to be given back; nothing is changed.", body = Report),
        (status = 202, description = "The job, which may have been under way already.", body = Job,
         headers(("Location" = String, description = "Where to watch the job."))),
    ),
)]
pub(crate) async fn post<P: Platform, U: Upload>(
    platform: &P,
    parts: &Parts,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let Wanted { dry_run, full } = body::read_or_default(upload).await?;
    if !dry_run {
        return accepted(reclaim::start(platform, &token, full).await?);
    }
    if full {
        return Err(Error::invalid("full", "what a full pass would find, only a full pass can tell"));
    }
    let kinds = reclaim::ask(platform, &token).await?.into_iter().map(|report| Reclaimable {
        kind: report.kind.name(),
        count: report.count,
        bytes: report.bytes,
        more: report.more,
    });
    let grace_secs = platform.settings().grace_secs;
    json(StatusCode::OK, &Report { grace_secs, kinds: kinds.collect() })
}
