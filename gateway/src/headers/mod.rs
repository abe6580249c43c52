//! Headers as the types that core understands, and back.

mod conditions;
mod content_range;
mod dates;
mod digests;
mod disposition;

pub(crate) use conditions::{conditions, if_range};
pub(crate) use content_range::{Part, content_range, update_range};
pub(crate) use dates::{http_date, parse_http_date, parse_rfc3339, rfc3339, rfc3339_secs};
pub(crate) use digests::{expected_digests, oc_checksum, wanted_digests};
pub(crate) use disposition::content_disposition;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use ledge_core::error::{Error, Result};

/// A header's text; several lines of a list count as one.
pub(crate) fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let lines: Vec<String> = headers
        .get_all(name)
        .iter()
        .map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned())
        .collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// The size that the body is announced to have.
pub(crate) fn content_length(headers: &HeaderMap) -> Result<Option<u64>> {
    text(headers, &header::CONTENT_LENGTH)
        .map(|text| text.parse().map_err(|_| Error::invalid("Content-Length", "expected a number of bytes")))
        .transpose()
}

/// Sets a header to a text that we made; one that can't be a header's value is left out.
pub(crate) fn set(headers: &mut HeaderMap, name: HeaderName, value: impl AsRef<str>) {
    if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
        headers.insert(name, value);
    }
}

/// An entity tag with its quotes.
pub(crate) fn quoted(etag: &str) -> String {
    format!("\"{etag}\"")
}
