//! What is known of the insides of segments: where chunks meet, and the CRC-32 of parts of an extent.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use super::crc::{combine_crc32, first_crc32};
use super::{Extent, HOLE, crc::crc32_of_zeros};

/// Ranges of segments whose CRC-32 is known: rows of the chunk index, other extents, ranges that were read.
#[derive(Debug, Default, Clone)]
pub struct Parts(BTreeMap<u64, Vec<Extent>>);

/// A range of a segment whose CRC-32 an edit needs: add it to the [`Parts`] and edit again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The segment's id.
    pub segment: u64,
    /// Where in the segment it begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
}

impl Parts {
    /// Adds a range and its CRC-32.
    pub fn add(&mut self, part: Extent) {
        if part.segment != HOLE && part.length > 0 && part.offset.checked_add(part.length).is_some() {
            self.0.entry(part.segment).or_default().push(part);
        }
    }

    /// The known parts that lie within `extent`.
    fn within(&self, extent: &Extent) -> impl DoubleEndedIterator<Item = &Extent> {
        let (start, end) = (extent.offset, extent.offset.saturating_add(extent.length));
        self.0
            .get(&extent.segment)
            .into_iter()
            .flatten()
            .filter(move |part| start <= part.offset && part.offset.saturating_add(part.length) <= end)
    }

    /// Where parts begin and end inside of `extent`, from its start, ascending.
    pub(super) fn joints(&self, extent: &Extent) -> Vec<u64> {
        let ends = |part: &Extent| [part.offset, part.offset.saturating_add(part.length)];
        let mut joints: Vec<u64> = self
            .within(extent)
            .flat_map(ends)
            .map(|joint| joint.saturating_sub(extent.offset))
            .filter(|joint| (1..extent.length).contains(joint))
            .collect();
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    /// The CRC-32 of the first `length` bytes of `extent`, or what is missing to know it.
    pub(super) fn crc32_of_start(&self, extent: &Extent, length: u64) -> Result<u32, Missing> {
        if extent.segment == HOLE {
            return Ok(crc32_of_zeros(length));
        }
        let starts = self.starts(extent);
        if let Some(crc32) = starts.get(&length) {
            return Ok(*crc32);
        }
        // The nearest position for which it is known, on either side: with what lies between, it is known here.
        let before = starts.range(..length).next_back().map_or(0, |(at, _)| *at);
        let behind = starts.range((Excluded(length), Unbounded)).next().map_or(extent.length, |(at, _)| *at);
        let (from, to) = if length - before <= behind - length { (before, length) } else { (length, behind) };
        Err(Missing { segment: extent.segment, offset: extent.offset + from, length: to - from })
    }

    /// The CRC-32 of every start of `extent` for which the parts tell it, by length: a part whose one end is known
    /// tells that of the other.
    fn starts(&self, extent: &Extent) -> BTreeMap<u64, u32> {
        let mut known = BTreeMap::from([(0, 0), (extent.length, extent.crc32)]);
        loop {
            let count = known.len();
            // Both ways, so that a row of parts is one pass.
            for part in self.within(extent).chain(self.within(extent).rev()) {
                let from = part.offset - extent.offset;
                let to = from + part.length;
                match (known.get(&from).copied(), known.get(&to).copied()) {
                    (Some(crc32), None) => {
                        known.insert(to, combine_crc32(crc32, part.crc32, part.length));
                    }
                    (None, Some(crc32)) => {
                        known.insert(from, first_crc32(crc32, part.crc32, part.length));
                    }
                    _ => {}
                }
            }
            if known.len() == count {
                return known;
            }
        }
    }
}

impl FromIterator<Extent> for Parts {
    fn from_iter<T: IntoIterator<Item = Extent>>(parts: T) -> Self {
        let mut known = Self::default();
        parts.into_iter().for_each(|part| known.add(part));
        known
    }
}

impl Missing {
    /// What is to be looked up or read, once: where two ranges of a segment begin or end together, the longer one is
    /// left with what the shorter one doesn't tell.
    pub(super) fn distinct(one: Self, other: Self) -> Vec<Self> {
        let (short, long) = if one.length <= other.length { (one, other) } else { (other, one) };
        let rest = long.length - short.length;
        if one.segment != other.segment {
            return vec![one, other];
        }
        if one.offset == other.offset {
            let rest = Self { offset: short.offset + short.length, length: rest, ..long };
            return [short, rest].into_iter().filter(|missing| missing.length > 0).collect();
        }
        if short.offset.checked_sub(long.offset) == Some(rest) {
            return vec![short, Self { length: rest, ..long }];
        }
        vec![one, other]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::noise;
    use proptest::prelude::*;

    fn part(bytes: &[u8], from: usize, to: usize) -> Extent {
        let crc32 = crc32fast::hash(&bytes[from..to]);
        Extent { segment: 7, offset: 1_000 + from as u64, length: (to - from) as u64, crc32 }
    }

    #[test]
    fn a_part_tells_what_is_before_and_behind_it() {
        let bytes = noise(1, 100);
        let extent = part(&bytes, 0, 100);
        let parts: Parts = [part(&bytes, 60, 100), part(&bytes, 20, 60)].into_iter().collect();
        assert_eq!(parts.crc32_of_start(&extent, 20), Ok(crc32fast::hash(&bytes[..20])));
        assert_eq!(parts.crc32_of_start(&extent, 60), Ok(crc32fast::hash(&bytes[..60])));
        assert_eq!(parts.joints(&extent), [20, 60]);
        let missing = |offset, length| Err(Missing { segment: 7, offset, length });
        assert_eq!(parts.crc32_of_start(&extent, 30), missing(1_020, 10));
        assert_eq!(parts.crc32_of_start(&extent, 55), missing(1_055, 5));
        assert_eq!(parts.crc32_of_start(&extent, 5), missing(1_000, 5));
        assert_eq!(
            parts.crc32_of_start(&Extent { segment: 8, ..extent }, 70),
            Err(Missing { segment: 8, offset: 1_070, length: 30 })
        );
    }

    #[test]
    fn what_is_missing_twice_is_named_once() {
        let missing = |offset, length| Missing { segment: 1, offset, length };
        assert_eq!(Missing::distinct(missing(5, 10), missing(5, 10)), [missing(5, 10)]);
        assert_eq!(Missing::distinct(missing(5, 10), missing(5, 30)), [missing(5, 10), missing(15, 20)]);
        assert_eq!(Missing::distinct(missing(5, 30), missing(25, 10)), [missing(25, 10), missing(5, 20)]);
        assert_eq!(Missing::distinct(missing(5, 10), missing(25, 10)), [missing(5, 10), missing(25, 10)]);
    }

    proptest! {
        #[test]
        fn what_is_missing_is_enough(
            known in prop::collection::vec((0usize..200, 1usize..80), 0..8),
            length in 1u64..200,
            lies: u32,
        ) {
            let bytes = noise(2, 200);
            let extent = part(&bytes, 0, 200);
            let mut parts: Parts =
                known.into_iter().map(|(from, count)| part(&bytes, from, 200.min(from + count))).collect();
            // Beyond the extent, or empty: of no use, and no harm.
            parts.add(Extent { offset: 990, length: 20, crc32: lies, ..extent });
            parts.add(Extent { offset: 1_100, length: 0, crc32: lies, ..extent });
            parts.add(Extent { offset: u64::MAX, length: 7, crc32: lies, ..extent });
            if let Err(missing) = parts.crc32_of_start(&extent, length) {
                let from = (missing.offset - 1_000) as usize;
                prop_assert!(missing.length <= 100);
                parts.add(part(&bytes, from, from + missing.length as usize));
            }
            prop_assert_eq!(parts.crc32_of_start(&extent, length), Ok(crc32fast::hash(&bytes[..length as usize])));
        }
    }
}
