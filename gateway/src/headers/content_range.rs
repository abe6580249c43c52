//! `Content-Range` in a request, and SabreDAV's `X-Update-Range`: where the bytes of a body belong.

use ledge_core::error::{Error, Result};
use ledge_core::files::Place;

/// Positions end here: what every JSON reader takes for a whole number.
const MAX_BYTES: u64 = (1 << 53) - 1;

/// A part of a file, as a request names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Where it begins.
    pub(crate) place: Place,
    /// How many bytes it has, where that is said.
    pub(crate) length: Option<u64>,
    /// The size of the whole, where that is said.
    pub(crate) size_bytes: Option<u64>,
}

/// `bytes first-last/size`, or `*` for the size.
pub(crate) fn content_range(text: &str) -> Result<Part> {
    let malformed = |reason| Error::invalid("Content-Range", reason);
    let expected = "expected bytes first-last/size, or bytes first-last/*";
    let range = text.trim().strip_prefix("bytes ").ok_or_else(|| malformed(expected))?;
    let (range, size) = range.trim().split_once('/').ok_or_else(|| malformed(expected))?;
    let (first, last) = range.split_once('-').ok_or_else(|| malformed(expected))?;
    let (first, last) = number(first).zip(number(last)).ok_or_else(|| malformed(expected))?;
    let size_bytes = match size.trim() {
        "*" => None,
        size => Some(number(size).ok_or_else(|| malformed(expected))?),
    };
    if last < first || size_bytes.is_some_and(|size_bytes| size_bytes <= last) {
        return Err(malformed("the last byte is before the first one, or not within the size"));
    }
    Ok(Part { place: Place::At(first), length: Some(last - first + 1), size_bytes })
}

/// `bytes=first-last`, `bytes=first-`, `bytes=-count` (from so many before the end on), or `append`.
pub(crate) fn update_range(text: &str) -> Option<Part> {
    let part = |place, length| Some(Part { place, length, size_bytes: None });
    let text = text.trim();
    if text == "append" {
        return part(Place::End, None);
    }
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    match (first, last) {
        ("", count) => part(Place::BeforeEnd(number(count)?), None),
        (first, "") => part(Place::At(number(first)?), None),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            part(Place::At(first), Some(last.checked_sub(first)? + 1))
        }
    }
}

fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number < MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_rfc_9110_writes_it() {
        let part =
            |first, length, size_bytes| Part { place: Place::At(first), length: Some(length), size_bytes };
        assert_eq!(content_range("bytes 0-4/*"), Ok(part(0, 5, None)));
        assert_eq!(content_range(" bytes 10-10/11 "), Ok(part(10, 1, Some(11))));
        for text in [
            "",
            "bytes",
            "bytes 0-4",
            "bytes */5",
            "bytes 4-3/*",
            "bytes 0-4/5x",
            "bytes 0-4/4",
            "bytes=0-4/5",
            "bytes -4/5",
            "bytes +0-4/5",
            "bytes 0-9007199254740991/*",
            "bytes 0-99999999999999999999/*",
            "lines 0-4/5",
        ] {
            assert!(content_range(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn sabredavs_ranges_are_read_in_all_four_forms() {
        let part = |place, length| Some(Part { place, length, size_bytes: None });
        assert_eq!(update_range("append"), part(Place::End, None));
        assert_eq!(update_range("bytes=3-5"), part(Place::At(3), Some(3)));
        assert_eq!(update_range("bytes=3-"), part(Place::At(3), None));
        assert_eq!(update_range("bytes=-3"), part(Place::BeforeEnd(3), None));
        for text in
            ["", "bytes", "bytes=", "bytes=-", "bytes=5-3", "bytes=a-", "bytes=--3", "bytes=3-5,7-9", "3-5"]
        {
            assert_eq!(update_range(text), None, "{text:?}");
        }
    }
}
