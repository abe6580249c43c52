//! OPTIONS, and what is allowed.

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use super::{Answer, Content, Failure, empty};

/// What every resource answers to, whether it is there or not.
const ALLOW: &str =
    "OPTIONS, GET, HEAD, PUT, PATCH, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK";

/// Says what the server can do, to anyone: clients ask before they sign in.
pub(crate) fn options() -> Response<Content> {
    let mut response = empty(StatusCode::OK);
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, HeaderValue::from_static(ALLOW));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    describe(headers);
    response
}

/// Which classes of RFC 4918 there are. Office opens files for writing only where the second header stands.
pub(crate) fn describe(headers: &mut HeaderMap) {
    headers
        .insert(HeaderName::from_static("dav"), HeaderValue::from_static("1, 2, 3, sabredav-partialupdate"));
    headers.insert(HeaderName::from_static("ms-author-via"), HeaderValue::from_static("DAV"));
}

/// A method that we don't know.
pub(crate) fn not_allowed() -> Answer {
    Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, format!("these methods are answered: {ALLOW}")))
}

/// The `Allow` header of a 405.
pub(super) fn allow(headers: &mut HeaderMap) {
    headers.insert(header::ALLOW, HeaderValue::from_static(ALLOW));
}
