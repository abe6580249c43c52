//! POST: the body goes behind the file's last byte.

use http::{Response, header};
use ledge_core::error::Result;
use ledge_core::files::{self, Edited, Place};
use ledge_core::idempotency::Once;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::address;
use crate::headers::{conditions, content_length, expected_digests};
use crate::openapi::parameters::{Conditions, IdempotencyKey};
use crate::rest::edited::{answer, telling};
use crate::rest::files::{SavedFile, media_type, saved_file};
use crate::rest::query::Query;
use crate::routes::Matched;

/// A file that was appended to.
#[derive(Serialize, ToSchema)]
struct AppendedFile<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    file: SavedFile<'a>,
    /// The position of the first byte that was appended.
    offset: u64,
}

/// Appends the body: 200 with the file, 201 where it is new. Appends at once lose nothing: each lands behind the other.
/// Those of one account within the space's `append_window_secs` are one version.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/append/{path}",
    params(
        ("create" = Option<bool>, Query, description = "Whether a file that isn't there is made."),
        Conditions,
        ("Content-Digest" = Option<String>, Header, description = "`sha-256=:…:` or `sha-512=:…:`: the body must have it."),
        ("Content-MD5" = Option<String>, Header, description = "The body must have it."),
        IdempotencyKey,
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "What to append."),
    responses(
        (status = 200, description = "The file.", body = AppendedFile, headers(("ETag" = String))),
        (status = 201, description = "The new file.", body = AppendedFile, headers(
            ("ETag" = String), ("Location" = String),
        )),
        (status = 409, description = "`is_a_folder`, `parent_missing` or `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn post<P: Platform, U: Upload>(
    once: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let headers = &matched.parts.headers;
    let query = Query::read(&matched.parts.uri, &["create"])?;
    let name = address.path.last().map(|name| name.as_str()).unwrap_or_default();
    let media_type = media_type(headers.get(header::CONTENT_TYPE), name)?;
    let edit = files::Edit {
        conditions: conditions(headers),
        place: Place::End,
        length: content_length(headers)?,
        size_bytes: None,
        create: query.is_true("create")?.then_some(media_type),
        modified_at: None,
        expected: expected_digests(headers)?,
        address,
    };
    let answer = |edited: &Edited| {
        let file = AppendedFile { file: saved_file(&edit.address, edited), offset: edited.start };
        answer(&matched, edited, &file)
    };
    answer(&files::edit(once, &edit, upload, &telling(once, answer)).await?)
}
