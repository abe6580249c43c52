//! POST of what segments will be: requests by which the client puts them into the bucket itself. POST of such an upload:
//! what has arrived is to be verified.

use std::collections::BTreeMap;

use http::{HeaderValue, Response, StatusCode, header};
use ledge_core::delta::{self, direct};
use ledge_core::digest::Sha256;
use ledge_core::error::{Error, Result};
use ledge_core::ids::UploadId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::address::space;
use crate::headers::rfc3339;
use crate::openapi::words::Time;
use crate::rest::jobs::{Job, accepted};
use crate::rest::query::Query;
use crate::rest::{body, json};
use crate::routes::Matched;

/// What is to be put.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Announced {
    #[schema(min_items = 1, max_items = 64)]
    segments: Vec<Segment>,
}

/// An object of at most 8 MiB.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Segment {
    /// The SHA-256 of the whole, in lower-case hex.
    sha256: String,
    /// What it consists of, in order and without gaps. All segments together have at most 2,048.
    #[schema(min_items = 1)]
    chunks: Vec<Chunk>,
}

/// A chunk.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = DirectChunk)]
struct Chunk {
    /// Its SHA-256, in lower-case hex.
    hash: String,
    /// How many bytes it has: 1 to 4 MiB.
    length: u32,
}

/// Requests to be sent to the bucket.
#[derive(Serialize, ToSchema)]
pub(crate) struct Begun {
    id: String,
    /// Until when they may be begun.
    #[schema(value_type = Time)]
    expires_at: String,
    /// One for each segment, in their order.
    segments: Vec<Put>,
}

/// A request. Whoever has its URL may send it.
#[derive(Serialize, ToSchema)]
struct Put {
    method: &'static str,
    url: String,
    /// Headers that it must have.
    headers: BTreeMap<&'static str, String>,
}

/// Begins a direct upload: answers with a request for each segment, which the client sends to the bucket with the segment as
/// its body.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/segments/direct",
    request_body = Announced,
    responses(
        (status = 201, description = "The requests.", body = Begun,
         headers(("Location" = String, description = "What to POST to when all are sent."))),
        (status = 409, description = "`not_direct`: direct uploads are off, or the bucket is not an S3 bucket."),
        (status = 413, description = "`body_too_large`."),
        (status = 429, description = "`too_many_uploads`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn begin<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let Announced { segments } = body::read(upload).await?;
    let parts = segments.iter().map(part).collect::<Result<Vec<_>>>()?;
    let begun = direct::begin(platform, &token, &space, &parts).await?;
    let location = format!("/api/v1/spaces/{space}/segments/direct/{}", begun.id);
    let puts = begun.puts.into_iter().map(|put| Put {
        method: "PUT",
        url: put.url,
        headers: put.headers.into_iter().collect(),
    });
    let answer =
        Begun { id: begun.id.to_string(), expires_at: rfc3339(begun.expires_at), segments: puts.collect() };
    let mut response = json(StatusCode::CREATED, &answer)?;
    let headers = response.headers_mut();
    let location = HeaderValue::try_from(location).map_err(|error| Error::Internal(error.to_string()))?;
    headers.insert(header::LOCATION, location);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn part(segment: &Segment) -> Result<direct::Part> {
    let chunk = |chunk: &Chunk| Ok(delta::Chunk { hash: hash(&chunk.hash)?, length: chunk.length });
    let chunks = segment.chunks.iter().map(chunk).collect::<Result<_>>()?;
    Ok(direct::Part { sha256: hash(&segment.sha256)?, chunks })
}

fn hash(text: &str) -> Result<Sha256> {
    text.parse()
        .map_err(|_| Error::invalid("segments", format!("{text:?} is not a SHA-256 in lower-case hex")))
}

/// Has a job verify what has arrived; lists may name the chunks when it is done. Where it was given up, since a segment was
/// missing, it begins anew.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/segments/direct/{id}",
    params(("id" = String, Path, description = "The direct upload's id.")),
    responses(
        (status = 202, description = "The job, which may have been asked for before.", body = Job,
         headers(("Location" = String, description = "Where to watch the job."))),
        (status = 409, description = "`contended`: somebody else asked at the same time."),
    ),
)]
pub(crate) async fn verify<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let id = UploadId::parse(matched.path).ok_or(Error::NotFound)?;
    accepted(direct::ask(platform, &token, &space, &id).await?)
}
