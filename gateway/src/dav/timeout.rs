//! The `Timeout` header (RFC 4918 section 10.7).

use std::time::Duration;

use http::{HeaderMap, HeaderName};

use crate::headers::text;

/// The first of the timeouts that can be read; None where there is none. What is longer than any is capped where it is
/// granted.
pub(super) fn timeout(headers: &HeaderMap) -> Option<Duration> {
    text(headers, &HeaderName::from_static("timeout"))?.split(',').find_map(|wanted| {
        let wanted = wanted.trim();
        if wanted.eq_ignore_ascii_case("infinite") {
            return Some(Duration::MAX);
        }
        let (word, secs) = wanted.split_at_checked("Second-".len())?;
        let is_number = !secs.is_empty() && secs.bytes().all(|byte| byte.is_ascii_digit());
        let secs = is_number.then(|| secs.parse().unwrap_or(u64::MAX));
        secs.filter(|_| word.eq_ignore_ascii_case("second-")).map(Duration::from_secs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_of_every_form_are_read() {
        for (text, secs) in [
            ("Second-600", Some(600)),
            ("second-1, Infinite", Some(1)),
            ("Infinite, Second-4100000000", Some(u64::MAX)),
            ("Extend, Second-5", Some(5)),
            ("Second-99999999999999999999", Some(u64::MAX)),
            ("Second-", None),
            ("Second--1", None),
            ("", None),
            ("Sécond-1", None),
        ] {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("timeout"),
                http::HeaderValue::from_bytes(text.as_bytes()).unwrap(),
            )]);
            assert_eq!(timeout(&headers).map(|timeout| timeout.as_secs()), secs, "{text}");
        }
    }
}
