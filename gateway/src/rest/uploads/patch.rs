//! PATCH of an upload: its next part.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::uploads::{self, Append};

use super::{
    UPLOAD_LENGTH, UPLOAD_OFFSET, checksum, finished, id, is_part, length, mismatch, number,
    other_media_type, other_version, progress,
};
use crate::credentials;
use crate::rest::query::Query;

/// Appends the body: 204. The last part finishes the file, and is answered with its entity tag.
#[utoipa::path(
    patch, path = "/api/v1/uploads/{id}",
    params(
        ("Tus-Resumable" = String, Header, description = "`1.0.0`."),
        ("Upload-Offset" = u64, Header, description = "Where the part begins: where the upload has ended so far."),
        ("Upload-Length" = Option<u64>, Header, description = "The whole length, where that comes only now."),
        ("Upload-Checksum" = Option<String>, Header, description = "`sha1 …`, `sha256 …` or `md5 …`: the part must have it."),
    ),
    request_body(content = Vec<u8>, content_type = "application/offset+octet-stream", description = "The part."),
    responses(
        (status = 204, description = "How far it is now; of a file that is finished, with its `ETag`.", headers(
            ("Upload-Offset" = u64), ("Upload-Expires" = String), ("ETag" = String), ("Last-Modified" = String),
        )),
        (status = 409, description = "`wrong_offset`, or what a save may meet: `parent_missing`, `not_a_folder`, `is_a_folder`, `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 413, description = "`body_too_large`: no file can be so long."),
        (status = 415, description = "`unsupported_media_type`."),
        (status = 423, description = "`locked`."),
        (status = 460, description = "`checksum_mismatch`: nothing of it is kept."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn patch<P: Platform, U: Upload>(
    platform: &P,
    parts: &Parts,
    at: &str,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let headers = &parts.headers;
    let token = credentials::token(headers)?;
    Query::read(&parts.uri, &[])?;
    if let Some(refused) = other_version(headers) {
        return Ok(refused);
    }
    if !is_part(headers) {
        return Ok(other_media_type());
    }
    let offset = number(headers, &UPLOAD_OFFSET, "Upload-Offset")?;
    let append = Append {
        token,
        id: id(at)?,
        offset: offset.ok_or_else(|| Error::invalid("Upload-Offset", "expected a number of bytes"))?,
        length: length(headers)?,
        upload_length: number(headers, &UPLOAD_LENGTH, "Upload-Length")?,
        expected: checksum(headers)?,
    };
    let appended = match uploads::append(platform, &append, upload).await {
        Ok(appended) => appended,
        Err(error) => return mismatch(error),
    };
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    progress(headers, appended.received_bytes, appended.expires_at);
    finished(headers, appended.finished.as_ref());
    Ok(response)
}
