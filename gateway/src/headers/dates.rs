//! Times as text.

use std::time::{Duration, UNIX_EPOCH};

use ledge_core::ports::Timestamp;

/// As HTTP writes it, cut to the second.
pub(crate) fn http_date(time: Timestamp) -> String {
    let millis = u64::try_from(time.0).unwrap_or(0);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(millis))
}

/// Reads an HTTP date, in seconds since 1970.
pub(crate) fn parse_http_date(text: &str) -> Option<i64> {
    let time = httpdate::parse_http_date(text.trim()).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

/// As JSON bodies write it: RFC 3339, UTC, always with milliseconds, so that texts sort as times do.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).map(|time| format!("{time:.3}")).unwrap_or_default()
}

/// The same, cut to the second.
pub(crate) fn rfc3339_secs(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).map(|time| format!("{time:.0}")).unwrap_or_default()
}

/// Reads RFC 3339, between 1970 and 9999: what HTTP dates can express too.
pub(crate) fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    const YEAR_10000_MILLIS: i64 = 253_402_300_800_000;
    let time: jiff::Timestamp = text.parse().ok()?;
    let millis = time.as_millisecond();
    (0..YEAR_10000_MILLIS).contains(&millis).then_some(Timestamp(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_both_forms() {
        let time = Timestamp(784_111_777_123);
        assert_eq!(http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(rfc3339(time), "1994-11-06T08:49:37.123Z");
        assert_eq!(rfc3339_secs(time), "1994-11-06T08:49:37Z");
        assert_eq!(rfc3339(Timestamp(784_111_777_120)), "1994-11-06T08:49:37.120Z");
        assert_eq!(rfc3339(Timestamp(784_111_777_000)), "1994-11-06T08:49:37.000Z");
        assert_eq!(parse_rfc3339("1994-11-06T09:49:37.123+01:00"), Some(time));
        for text in ["", "yesterday", "1969-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "1994-11-06"] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
        assert_eq!(http_date(Timestamp(253_402_300_799_999)), "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}
