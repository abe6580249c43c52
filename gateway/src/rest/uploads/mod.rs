//! `/api/v1/uploads`: tus 1.0 (<https://tus.io/protocols/resumable-upload>), for large files and bad networks. The
//! protocol leaves open what an upload becomes: here its metadata say so ([`metadata`]).

mod concat;
mod delete;
mod get;
mod metadata;
mod options;
mod patch;
mod post;

pub(crate) use delete::delete;
pub(crate) use get::get;
pub(crate) use options::options;
pub(crate) use patch::patch;
pub(crate) use post::post;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::ids::UploadId;
use ledge_core::ingest::{Algorithm, Expected};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Timestamp;
use ledge_core::uploads::{Finished, Target};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::headers::{http_date, quoted, set, text};
use crate::problem;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(options::options, post::post, get::get, patch::patch, delete::delete))]
pub(crate) struct Documented;

const VERSION: &str = "1.0.0";
const EXTENSIONS: &str =
    "creation,creation-with-upload,creation-defer-length,expiration,checksum,concatenation,termination";
const ALGORITHMS: &str = "sha1,sha256,md5";
/// The media type of parts.
const PART: &str = "application/offset+octet-stream";
/// In what field an [`Expected`] digest is found wrong.
const CHECKSUM: &str = "checksum";

const TUS_RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const TUS_VERSION: HeaderName = HeaderName::from_static("tus-version");
const UPLOAD_CHECKSUM: HeaderName = HeaderName::from_static("upload-checksum");
const UPLOAD_CONCAT: HeaderName = HeaderName::from_static("upload-concat");
const UPLOAD_DEFER_LENGTH: HeaderName = HeaderName::from_static("upload-defer-length");
const UPLOAD_EXPIRES: HeaderName = HeaderName::from_static("upload-expires");
const UPLOAD_LENGTH: HeaderName = HeaderName::from_static("upload-length");
const UPLOAD_METADATA: HeaderName = HeaderName::from_static("upload-metadata");
const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const METHOD_OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");

/// The method that a client means which can't send it.
pub(crate) fn method(parts: &Parts) -> Method {
    let meant = match (parts.method == Method::POST).then(|| text(&parts.headers, &METHOD_OVERRIDE)).flatten()
    {
        Some(meant) => meant,
        None => return parts.method.clone(),
    };
    match meant.trim() {
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        _ => parts.method.clone(),
    }
}

/// Completes what is answered to tus' requests, errors as well.
pub(crate) fn complete(response: &mut Response<ReadPlan>) {
    let headers = response.headers_mut();
    headers.insert(TUS_RESUMABLE, HeaderValue::from_static(VERSION));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform"));
}

/// The answer to a client of another version; None for one of ours.
fn other_version(headers: &HeaderMap) -> Option<Response<ReadPlan>> {
    if text(headers, &TUS_RESUMABLE).is_some_and(|version| version.trim() == VERSION) {
        return None;
    }
    let detail = "Tus-Resumable: expected 1.0.0";
    let mut response = problem::plain(StatusCode::PRECONDITION_FAILED, "precondition_failed", detail);
    response.headers_mut().insert(TUS_VERSION, HeaderValue::from_static(VERSION));
    Some(response)
}

/// The answer to a body of another media type.
fn other_media_type() -> Response<ReadPlan> {
    let detail = "Content-Type: expected application/offset+octet-stream";
    problem::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
}

/// Whether a body is a part.
fn is_part(headers: &HeaderMap) -> bool {
    text(headers, &header::CONTENT_TYPE)
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(PART))
}

/// An upload's id; a malformed one is one that isn't there.
fn id(text: &str) -> Result<UploadId> {
    UploadId::parse(text).ok_or(Error::NotFound)
}

/// A header that is a number of bytes.
fn number(headers: &HeaderMap, name: &HeaderName, field: &'static str) -> Result<Option<u64>> {
    let Some(text) = text(headers, name) else { return Ok(None) };
    // Digits only: neither +1 nor what doesn't fit.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.map(Some).ok_or_else(|| Error::invalid(field, "expected a number of bytes"))
}

/// `Content-Length`.
fn length(headers: &HeaderMap) -> Result<Option<u64>> {
    number(headers, &header::CONTENT_LENGTH, "Content-Length")
}

/// The digest that a part must have.
fn checksum(headers: &HeaderMap) -> Result<Vec<Expected>> {
    let Some(text) = text(headers, &UPLOAD_CHECKSUM) else { return Ok(Vec::new()) };
    let malformed = || {
        Error::invalid("Upload-Checksum", "expected sha1, sha256 or md5, a space, and the digest in base64")
    };
    let (name, digest) = text.trim().split_once(' ').ok_or_else(malformed)?;
    let algorithm = match name {
        "sha1" => Algorithm::Sha1,
        "sha256" => Algorithm::Sha256,
        "md5" => Algorithm::Md5,
        _ => return Err(malformed()),
    };
    let value = STANDARD.decode(digest).ok().filter(|value| value.len() == algorithm.length());
    Ok(vec![Expected { algorithm, value: value.ok_or_else(malformed)?, field: CHECKSUM }])
}

/// The answer to a part that isn't what was announced; other errors stay.
fn mismatch(error: Error) -> Result<Response<ReadPlan>> {
    match (error, StatusCode::from_u16(460)) {
        (Error::Invalid { field: CHECKSUM, reason }, Ok(status)) => {
            Ok(problem::plain(status, "checksum_mismatch", &reason))
        }
        (error, _) => Err(error),
    }
}

/// How far an upload is.
fn progress(headers: &mut HeaderMap, received_bytes: u64, expires_at: Timestamp) {
    headers.insert(UPLOAD_OFFSET, HeaderValue::from(received_bytes));
    set(headers, UPLOAD_EXPIRES, http_date(expires_at));
}

/// What has become of it.
fn finished(headers: &mut HeaderMap, finished: Option<&Finished>) {
    if let Some(finished) = finished {
        set(headers, header::ETAG, quoted(&finished.etag));
        set(headers, header::LAST_MODIFIED, http_date(finished.modified_at()));
    }
}

/// The path of an upload's file, from what its token sees as the top.
fn path(target: &Target) -> String {
    target.names().iter().map(|name| format!("/{name}")).collect()
}
