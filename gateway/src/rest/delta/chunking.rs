//! GET of the parameters by which content is cut.

use http::{Response, StatusCode};
use ledge_core::chunk::{AVERAGE_BYTES, CHUNKER, MAX_BYTES, MIN_BYTES};
use ledge_core::delta::pack::{MAX_PACK_BYTES, MAX_PACK_CHUNKS};
use ledge_core::delta::{MAX_CHUNKS, MAX_HASHES};
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use serde::Serialize;
use utoipa::ToSchema;

use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// How the server cuts, and what requests may hold.
#[derive(Serialize, ToSchema)]
pub(crate) struct Chunking {
    /// Another id, other cuts.
    id: u32,
    /// `fastcdc-2020`.
    algorithm: &'static str,
    /// Normalised chunking's level.
    normalization: u32,
    min_bytes: usize,
    average_bytes: usize,
    max_bytes: usize,
    /// What names a chunk: `sha-256`.
    hash: &'static str,
    /// Of a request for what is missing.
    max_hashes: usize,
    /// Of a list of chunks.
    max_chunks: usize,
    max_pack_bytes: u64,
    max_pack_chunks: usize,
}

/// How the server cuts: who cuts likewise finds the same chunks.
#[utoipa::path(
    get, path = "/api/v1/chunking",
    security(()),
    responses(
        (status = 200, description = "The parameters.", body = Chunking),
        (status = 400, description = "`invalid`: an unknown parameter."),
    ),
)]
pub(crate) fn chunking(matched: &Matched<'_>) -> Result<Response<ReadPlan>> {
    Query::read(&matched.parts.uri, &[])?;
    json(
        StatusCode::OK,
        &Chunking {
            id: CHUNKER,
            algorithm: "fastcdc-2020",
            normalization: 1,
            min_bytes: MIN_BYTES,
            average_bytes: AVERAGE_BYTES,
            max_bytes: MAX_BYTES,
            hash: "sha-256",
            max_hashes: MAX_HASHES,
            max_chunks: MAX_CHUNKS,
            max_pack_bytes: MAX_PACK_BYTES,
            max_pack_chunks: MAX_PACK_CHUNKS,
        },
    )
}
