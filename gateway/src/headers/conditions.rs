//! `If-Match`, `If-None-Match`, `If-Modified-Since`, `If-Unmodified-Since`, `If-Range`.

use http::{HeaderMap, HeaderName, header};
use ledge_core::conditions::{Conditions, IfRange, Tag, Tags};

use super::{dates, text};

/// The conditions of a request. Dates that can't be read don't count (RFC 9110 section 13.1.3).
pub(crate) fn conditions(headers: &HeaderMap) -> Conditions {
    let tags = |name: &HeaderName| text(headers, name).map(|list| Tags::parse(&list));
    let date = |name: &HeaderName| text(headers, name).and_then(|date| dates::parse_http_date(&date));
    Conditions {
        if_match: tags(&header::IF_MATCH),
        if_none_match: tags(&header::IF_NONE_MATCH),
        if_modified_since_secs: date(&header::IF_MODIFIED_SINCE),
        if_unmodified_since_secs: date(&header::IF_UNMODIFIED_SINCE),
    }
}

/// The `If-Range` header: a tag has quotes, all else is a date; one that is neither matches nothing.
pub(crate) fn if_range(headers: &HeaderMap) -> Option<IfRange> {
    let value = text(headers, &header::IF_RANGE)?;
    let value = value.trim();
    if value.starts_with('"') || value.starts_with("W/") {
        return Some(IfRange::Tag(Tag::parse(value)));
    }
    Some(IfRange::DateSecs(dates::parse_http_date(value).unwrap_or(i64::MIN)))
}
