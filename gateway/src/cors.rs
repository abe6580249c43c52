//! CORS: what browsers let pages of other origins do here (<https://fetch.spec.whatwg.org/#http-cors-protocol>).
//!
//! Only origins that the operator has listed get these headers. Whoever asks signs in as ever: a token in a header, since
//! there are no cookies that a page could use behind its user's back; so no credentials are allowed.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use ledge_core::plan::ReadPlan;
use ledge_core::settings::{Origins, Settings};

use crate::dav::Content;

/// Every method that some resource answers to; whether this one does, the request itself is told.
const METHODS: &str =
    "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK";

/// Headers that requests may carry, for whoever doesn't say which.
const REQUEST_HEADERS: &str = "Authorization, Content-Type, Content-Range, Depth, Destination, Idempotency-Key, If, \
    If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Lock-Token, OC-Checksum, OC-Total-Length, \
    Overwrite, Range, Repr-Digest, Timeout, Tus-Resumable, Upload-Checksum, Upload-Concat, Upload-Defer-Length, \
    Upload-Length, Upload-Metadata, Upload-Offset, X-OC-Mtime, X-Update-Range";

/// Headers that pages may read in answers.
const ANSWER_HEADERS: &str = "Accept-Ranges, Allow, Content-Disposition, Content-Length, Content-Range, DAV, ETag, \
    Last-Modified, Location, Lock-Token, OC-ETag, OC-FileId, Retry-After, Server-Timing, Tus-Checksum-Algorithm, \
    Tus-Extension, Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Concat, Upload-Defer-Length, Upload-Expires, \
    Upload-Length, Upload-Metadata, Upload-Offset, WWW-Authenticate, X-OC-Mtime";

/// How long a browser may remember a preflight. Chromium takes no more.
const MAX_AGE_SECS: u32 = 7200;

/// Answers a preflight of an origin that is allowed. It carries no token: it comes before everything else.
pub(crate) fn preflight(settings: &Settings, parts: &Parts) -> Option<Response<Content>> {
    let asked = parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if parts.method != Method::OPTIONS || !asked || allowed_origin(settings, &parts.headers).is_none() {
        return None;
    }
    let mut response = Response::new(Content::Plan(ReadPlan::default()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let asked_for = parts.headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        asked_for.cloned().unwrap_or(HeaderValue::from_static(REQUEST_HEADERS)),
    );
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE_SECS));
    Some(response)
}

/// Lets the page that asked read the answer, an error as well.
pub(crate) fn expose(settings: &Settings, request: &HeaderMap, answer: &mut HeaderMap) {
    if settings.cors_origins == Origins::Listed(Vec::new()) {
        return;
    }
    answer.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = allowed_origin(settings, request) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(ANSWER_HEADERS));
    }
}

fn allowed_origin(settings: &Settings, request: &HeaderMap) -> Option<HeaderValue> {
    let origin = request.get(header::ORIGIN)?;
    settings.cors_origins.allow(origin.to_str().ok()?).then(|| origin.clone())
}
