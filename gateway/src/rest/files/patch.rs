//! PATCH of a file: the body goes over a part of it, or beyond its end.

use http::{Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::files;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};

use super::put::modified_at;
use crate::address::address;
use crate::headers::{
    conditions, content_length, content_range, expected_digests, http_date, quoted, set, text,
};
use crate::openapi::parameters::Conditions;
use crate::openapi::words::Time;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Writes the body to where `Content-Range` says, and leaves the rest as it is: 204. Beyond the end, what is between reads
/// as zeros, and takes no room in the bucket.
#[utoipa::path(
    patch, path = "/api/v1/spaces/{space}/files/{path}",
    params(
        ("Content-Range" = String, Header, description = "`bytes first-last/*`, or the file's size afterwards for `*`."),
        ("modified_at" = Option<Time>, Query, description = "When it was modified; now where it isn't given."),
        Conditions,
        ("Content-Digest" = Option<String>, Header, description = "`sha-256=:…:` or `sha-512=:…:`: the body must have it."),
        ("Content-MD5" = Option<String>, Header, description = "The body must have it."),
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The part."),
    responses(
        (status = 204, description = "It is written.", headers(("ETag" = String), ("Last-Modified" = String))),
        (status = 409, description = "`is_a_folder`, `size_differs` or `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn patch<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let headers = &matched.parts.headers;
    let part = text(headers, &header::CONTENT_RANGE)
        .ok_or_else(|| Error::invalid("Content-Range", "it is needed: bytes first-last/*"))?;
    let part = content_range(&part)?;
    if content_length(headers)?.is_some_and(|length| Some(length) != part.length) {
        return Err(Error::invalid("Content-Range", "it has another length than the body"));
    }
    let edit = files::Edit {
        address,
        conditions: conditions(headers),
        place: part.place,
        length: part.length,
        size_bytes: part.size_bytes,
        create: None,
        modified_at: modified_at(&Query::read(&matched.parts.uri, &["modified_at"])?)?,
        expected: expected_digests(headers)?,
    };
    let edited = files::edit(platform, &edit, upload, &|_| Ok(())).await?;
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&edited.saved.etag));
    set(headers, header::LAST_MODIFIED, http_date(edited.saved.modified_at));
    Ok(response)
}
