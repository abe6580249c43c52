//! POST of hashes: which of the chunks does the space lack?

use http::{Response, StatusCode};
use ledge_core::delta;
use ledge_core::digest::Sha256;
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::address::space;
use crate::rest::query::Query;
use crate::rest::{body, json};
use crate::routes::Matched;

/// Chunks by their hashes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hashes {
    /// SHA-256, in lower-case hex; at most 8,192.
    #[schema(max_items = 8192)]
    hashes: Vec<String>,
}

/// What is to be sent.
#[derive(Serialize, ToSchema)]
pub(crate) struct Missing {
    /// Those that the space lacks, each once, in the order of the request.
    missing: Vec<String>,
}

/// Tells which chunks the space lacks. The others stay for the grace time, whatever is deleted meanwhile.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/chunks/missing",
    request_body = Hashes,
    responses(
        (status = 200, description = "The chunks to send.", body = Missing),
        (status = 413, description = "`body_too_large`."),
    ),
)]
pub(crate) async fn missing<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let Hashes { hashes } = body::read(upload).await?;
    let hashes = hashes.iter().map(|text| hash(text)).collect::<Result<Vec<_>>>()?;
    let missing = delta::missing(platform, &token, &space, &hashes).await?;
    json(StatusCode::OK, &Missing { missing: missing.iter().map(ToString::to_string).collect() })
}

fn hash(text: &str) -> Result<Sha256> {
    text.parse().map_err(|_| Error::invalid("hashes", format!("{text:?} is not a SHA-256 in lower-case hex")))
}
