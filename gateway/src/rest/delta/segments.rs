//! POST of a pack: chunks that lists may name from now on.

use http::{Response, StatusCode, header};
use ledge_core::delta::{self, pack::PACK_TYPE};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::Serialize;
use utoipa::ToSchema;

use super::manifest::is_type;
use crate::address::space;
use crate::headers::content_length;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What became of a pack.
#[derive(Serialize, ToSchema)]
pub(crate) struct Stored {
    /// The chunks that the space didn't know, in their order. It has the others already.
    stored: Vec<String>,
    /// How many bytes they are.
    stored_bytes: u64,
    /// How many bytes of content came.
    size_bytes: u64,
}

/// Stores chunks, all of them or none. They stay for the grace time, and longer where a file is made of them.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/segments",
    request_body(
        content = Vec<u8>, content_type = "application/vnd.ledge.pack",
        description = "At most 32 MiB and 1,024 chunks, one after another: the length in 4 bytes, big-endian; 32 bytes, \
                       its SHA-256; the chunk, of 1 byte to 4 MiB."
    ),
    responses(
        (status = 201, description = "What was stored.", body = Stored),
        (status = 413, description = "`body_too_large`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn segments<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let headers = &matched.parts.headers;
    if !headers.get(header::CONTENT_TYPE).is_some_and(|given| is_type(given, PACK_TYPE)) {
        return Err(Error::invalid("Content-Type", format!("expected {PACK_TYPE}")));
    }
    let length = content_length(headers)?;
    let kept = delta::keep(platform, (&token, &space), length, upload).await?;
    json(
        StatusCode::CREATED,
        &Stored {
            stored: kept.stored.iter().map(ToString::to_string).collect(),
            stored_bytes: kept.stored_bytes,
            size_bytes: kept.size_bytes,
        },
    )
}
