//! Byte ranges: RFC 9110 section 14, as pure functions.

use std::ops::Range;

/// More ranges than this are answered with the whole: each costs a bucket request (RFC 9110 section 14.2 lets a
/// server ignore what looks like an attack).
pub const MAX_RANGES: usize = 32;

/// One range as asked for, before the size is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeSpec {
    /// From a position to an inclusive position, or to the end.
    From {
        /// The first byte wanted.
        first: u64,
        /// The last byte wanted.
        last: Option<u64>,
    },
    /// So many bytes from the end.
    Suffix(u64),
}

/// What to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// 200 with everything.
    Whole,
    /// 206 with these, none of them empty, in the order asked for, overlapping and touching ones merged.
    Parts(Vec<Range<u64>>),
    /// 416.
    Unsatisfiable,
}

/// Reads a `Range` header. None where it is to be ignored: another unit, bad syntax, more than [`MAX_RANGES`].
pub fn parse(header: &str) -> Option<Vec<RangeSpec>> {
    let (unit, list) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let specs: Vec<RangeSpec> = list
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(parse_one)
        .collect::<Option<_>>()?;
    (1..=MAX_RANGES).contains(&specs.len()).then_some(specs)
}

fn parse_one(item: &str) -> Option<RangeSpec> {
    let (first, last) = item.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    match (first.is_empty(), last.is_empty()) {
        (true, true) => None,
        (true, false) => number(last).map(RangeSpec::Suffix),
        (false, true) => Some(RangeSpec::From { first: number(first)?, last: None }),
        (false, false) => {
            let (first, last) = (number(first)?, number(last)?);
            // A last position before the first makes the whole set invalid (section 14.1.1).
            (first <= last).then_some(RangeSpec::From { first, last: Some(last) })
        }
    }
}

/// Digits of any length; what exceeds 64 bits is as far away as the end of the largest number.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().unwrap_or(u64::MAX))
}

/// Decides what to answer for content of `size_bytes`.
pub fn resolve(specs: &[RangeSpec], size_bytes: u64) -> Resolved {
    // Empty content has no ranges to choose from (section 14.2 allows to ignore the header).
    if size_bytes == 0 {
        return Resolved::Whole;
    }
    let mut parts = Vec::new();
    for range in specs.iter().filter_map(|spec| within(*spec, size_bytes)) {
        add(&mut parts, range);
    }
    if parts.is_empty() { Resolved::Unsatisfiable } else { Resolved::Parts(parts) }
}

/// Adds a range, united with those that it touches, in the place of the first of them. The parts stay apart from
/// each other: what doesn't touch the range or a part that it unites with doesn't touch the union.
fn add(parts: &mut Vec<Range<u64>>, mut range: Range<u64>) {
    let mut place = parts.len();
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        if part.start <= range.end && range.start <= part.end {
            range = part.start.min(range.start)..part.end.max(range.end);
            place = place.min(at);
            parts.remove(at);
        } else {
            at += 1;
        }
    }
    parts.insert(place.min(parts.len()), range);
}

fn within(spec: RangeSpec, size_bytes: u64) -> Option<Range<u64>> {
    let range = match spec {
        RangeSpec::From { first, last } => {
            first..last.map_or(size_bytes, |last| last.saturating_add(1).min(size_bytes))
        }
        RangeSpec::Suffix(count) => size_bytes.saturating_sub(count)..size_bytes,
    };
    (range.start < range.end).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(header: &str, size: u64) -> Resolved {
        parse(header).map_or(Resolved::Whole, |specs| resolve(&specs, size))
    }

    fn parts(parts: &[(u64, u64)]) -> Resolved {
        Resolved::Parts(parts.iter().map(|&(start, end)| start..end).collect())
    }

    #[test]
    fn ranges_of_ten_bytes() {
        for (header, expected) in [
            ("bytes=0-", parts(&[(0, 10)])),
            ("bytes=0-9", parts(&[(0, 10)])),
            ("bytes=2-4", parts(&[(2, 5)])),
            ("BYTES = 2-4", parts(&[(2, 5)])),
            ("bytes=9-", parts(&[(9, 10)])),
            ("bytes=5-99999999999999999999999", parts(&[(5, 10)])),
            ("bytes=-3", parts(&[(7, 10)])),
            ("bytes=-99999", parts(&[(0, 10)])),
            ("bytes=10-", Resolved::Unsatisfiable),
            ("bytes=99999999999999999999-", Resolved::Unsatisfiable),
            ("bytes=-0", Resolved::Unsatisfiable),
            ("bytes=10-,0-1", parts(&[(0, 2)])),
            ("bytes=0-1,4-5", parts(&[(0, 2), (4, 6)])),
            ("bytes=4-5,0-1", parts(&[(4, 6), (0, 2)])),
            ("bytes=0-4,3-7", parts(&[(0, 8)])),
            ("bytes=0-1,2-3", parts(&[(0, 4)])),
            ("bytes=0-1,6-7,1-6", parts(&[(0, 8)])),
            ("bytes=,0-1,", parts(&[(0, 2)])),
            ("bytes=5-2", Resolved::Whole),
            ("bytes=", Resolved::Whole),
            ("bytes=-", Resolved::Whole),
            ("bytes=a-b", Resolved::Whole),
            ("bytes=1-2;3", Resolved::Whole),
            ("bytes=+1-2", Resolved::Whole),
            ("lines=0-1", Resolved::Whole),
            ("bytes", Resolved::Whole),
        ] {
            assert_eq!(answer(header, 10), expected, "{header}");
        }
        assert_eq!(answer("bytes=-5", 0), Resolved::Whole);
        assert_eq!(answer("bytes=0-", 0), Resolved::Whole);
        assert_eq!(answer(&format!("bytes={}", vec!["1-2"; 33].join(",")), 10), Resolved::Whole);
    }

    proptest! {
        #[test]
        fn parts_hold_exactly_the_bytes_asked_for(
            size in 1u64..60,
            specs in prop::collection::vec((0u64..70, prop::option::of(0u64..70), any::<bool>()), 1..6),
        ) {
            let specs: Vec<RangeSpec> = specs.into_iter().map(|(first, more, suffix)| match suffix {
                true => RangeSpec::Suffix(first),
                false => RangeSpec::From { first, last: more.map(|more| first + more) },
            }).collect();
            let wanted: Vec<u64> = (0..size).filter(|&at| specs.iter().any(|spec| match *spec {
                RangeSpec::From { first, last } => first <= at && last.is_none_or(|last| at <= last),
                RangeSpec::Suffix(count) => at + count >= size,
            })).collect();
            match resolve(&specs, size) {
                Resolved::Whole => prop_assert!(false, "never for content that isn't empty"),
                Resolved::Unsatisfiable => prop_assert!(wanted.is_empty()),
                Resolved::Parts(parts) => {
                    let mut got: Vec<u64> = parts.iter().cloned().flatten().collect();
                    got.sort_unstable();
                    prop_assert_eq!(got, wanted);
                }
            }
        }
    }
}
