//! The `Depth` header.

use http::{HeaderMap, HeaderName, StatusCode};

use super::Failure;
use crate::headers::text;

const DEPTH: HeaderName = HeaderName::from_static("depth");

/// How far a request reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The resource alone.
    Zero,
    /// And its children.
    One,
    /// And all below.
    Infinity,
}

/// Reads the header; None where it is missing.
pub(super) fn depth(headers: &HeaderMap) -> Result<Option<Depth>, Failure> {
    let Some(text) = text(headers, &DEPTH) else { return Ok(None) };
    match text.trim() {
        "0" => Ok(Some(Depth::Zero)),
        "1" => Ok(Some(Depth::One)),
        text if text.eq_ignore_ascii_case("infinity") => Ok(Some(Depth::Infinity)),
        _ => Err(Failure::new(StatusCode::BAD_REQUEST, "Depth: expected 0, 1 or infinity")),
    }
}
