//! OPTIONS: what the server can do, to anybody.

use http::{HeaderName, HeaderValue, Response, StatusCode};
use ledge_core::plan::ReadPlan;
use ledge_core::uploads::MAX_LENGTH_BYTES;

use super::{ALGORITHMS, EXTENSIONS, TUS_VERSION, VERSION};

/// Says which version and extensions of tus there are, and how long an upload may be.
#[utoipa::path(
    options, path = "/api/v1/uploads",
    security(()),
    responses((status = 204, description = "What the server can do.", headers(
        ("Tus-Version" = String), ("Tus-Extension" = String), ("Tus-Max-Size" = u64), ("Tus-Checksum-Algorithm" = String),
    ))),
)]
pub(crate) fn options() -> Response<ReadPlan> {
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(TUS_VERSION, HeaderValue::from_static(VERSION));
    headers.insert(HeaderName::from_static("tus-extension"), HeaderValue::from_static(EXTENSIONS));
    headers.insert(HeaderName::from_static("tus-max-size"), HeaderValue::from(MAX_LENGTH_BYTES));
    headers.insert(HeaderName::from_static("tus-checksum-algorithm"), HeaderValue::from_static(ALGORITHMS));
    response
}
