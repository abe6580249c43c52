//! Content-defined cuts: where an edit moves bytes, the cuts move with them.
//!
//! The cuts are part of the stored format: the same content must be cut alike tomorrow, or nothing is ever
//! recognised again. The parameters below therefore have an id that is stored with each chunk, the crate is pinned
//! exactly, and golden vectors hold both in place.

mod cutter;
mod rechunk;

use std::ops::Range;

use fastcdc::v2020::{self, Normalization};

pub use cutter::Cutter;
pub use rechunk::{Rechunk, Span, Wants};

/// The id of the parameters below.
pub const CHUNKER: u32 = 1;

/// The smallest chunk but a file's last. 256 KiB: four times the size at which a bucket request costs more time
/// than its bytes.
pub const MIN_BYTES: usize = 256 * 1024;
/// What chunks are on average: 1 MiB, which makes 25 TiB of chunk rows in the 10 GB of an edge database.
pub const AVERAGE_BYTES: usize = 1024 * 1024;
/// The largest chunk.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

// The crate checks its limits in debug builds only, and silently shifts cuts by a byte where a limit is odd.
const _: () = {
    assert!(
        MIN_BYTES >= v2020::MINIMUM_MIN && MIN_BYTES <= v2020::MINIMUM_MAX && MIN_BYTES.is_multiple_of(2)
    );
    assert!(AVERAGE_BYTES >= v2020::AVERAGE_MIN && AVERAGE_BYTES <= v2020::AVERAGE_MAX);
    assert!(AVERAGE_BYTES.is_power_of_two() && MIN_BYTES < AVERAGE_BYTES && AVERAGE_BYTES < MAX_BYTES);
    assert!(
        MAX_BYTES >= v2020::MAXIMUM_MIN && MAX_BYTES <= v2020::MAXIMUM_MAX && MAX_BYTES.is_multiple_of(2)
    );
};

/// How many bytes behind a cut decide whether it is one: the first is hashed with the chunk, and bytes are tested
/// two at a time, so that a cut before the last byte of all is never seen. Only [`MAX_BYTES`] cuts unseen.
pub const LOOKAHEAD_BYTES: u64 = 2;

/// The chunks at the start of `content` whose ends are certain.
///
/// `content` begins at a cut. Where more may follow (`!ended`), the last bytes usually belong to a chunk whose end
/// isn't there yet: they are left over, and the next call begins with them. The cuts don't depend on how the
/// content was divided into calls.
pub fn cuts(content: &[u8], ended: bool) -> Vec<Range<usize>> {
    Sizes::STORED.cuts(content, ended)
}

/// Sizes of chunks. Tests have smaller ones, so that many chunks are few bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    min: usize,
    average: usize,
    max: usize,
}

impl Sizes {
    /// Those of everything that is stored.
    pub(crate) const STORED: Self = Self { min: MIN_BYTES, average: AVERAGE_BYTES, max: MAX_BYTES };
    /// The smallest that the crate allows.
    #[cfg(test)]
    pub(crate) const SMALL: Self =
        Self { min: v2020::MINIMUM_MIN, average: v2020::AVERAGE_MIN, max: v2020::MAXIMUM_MIN };

    /// See [`cuts`].
    pub(crate) fn cuts(self, content: &[u8], ended: bool) -> Vec<Range<usize>> {
        let (small, large) = v2020::select_masks(self.average, Normalization::Level1);
        let mut found = Vec::new();
        let mut start = 0;
        while let Some(rest) = content.get(start..).filter(|rest| !rest.is_empty()) {
            let (_, length) =
                v2020::cut(rest, self.min, self.average, self.max, small, large, small << 1, large << 1);
            // A cut at the very end of what is there may only be the end of what is there.
            if length == rest.len() && length < self.max && !ended {
                break;
            }
            found.push(start..start + length);
            start += length;
        }
        found
    }
}

/// Bytes that don't repeat, the same everywhere: xorshift64*.
#[cfg(test)]
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        bytes.extend_from_slice(&state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Sha256;
    use proptest::prelude::*;

    /// Cuts content that arrives in pieces, as an upload does.
    fn cuts_of_pieces(content: &[u8], pieces: impl Fn(usize) -> usize) -> Vec<usize> {
        let (mut lengths, mut held, mut at, mut turn) = (Vec::new(), Vec::new(), 0, 0);
        loop {
            let next = content.len().min(at + pieces(turn).max(1));
            held.extend_from_slice(&content[at..next]);
            (at, turn) = (next, turn + 1);
            let found = cuts(&held, at == content.len());
            held.drain(..found.last().map_or(0, |last| last.end));
            lengths.extend(found.iter().map(ExactSizeIterator::len));
            if at == content.len() {
                return lengths;
            }
        }
    }

    #[test]
    fn golden_cuts_never_change() {
        let lengths: Vec<usize> =
            cuts(&noise(7, 12 * 1024 * 1024), true).iter().map(ExactSizeIterator::len).collect();
        assert_eq!(lengths, GOLDEN);
        let zeros: Vec<usize> =
            cuts(&vec![0; 9 * 1024 * 1024], true).iter().map(ExactSizeIterator::len).collect();
        assert_eq!(zeros, [MAX_BYTES, MAX_BYTES, 1024 * 1024]);
        assert_eq!(
            Sha256::of(&noise(7, 64)).to_string(),
            "ad487bc0c461f01bf1bb85684724d51a0ebaba1afff95eeec2fca9664820545d",
            "the test's own noise has changed"
        );
    }

    const GOLDEN: [usize; 10] =
        [1074318, 2192716, 2460269, 349633, 954580, 815231, 1165312, 1096572, 1650675, 823606];

    #[test]
    fn small_content_is_one_chunk_and_nothing_is_none() {
        assert!(cuts(&[], true).is_empty());
        assert_eq!(cuts(&noise(1, 1), true), vec![0..1]);
        assert!(cuts(&noise(1, MIN_BYTES), false).is_empty());
        assert_eq!(cuts(&noise(1, MIN_BYTES), true), vec![0..MIN_BYTES]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn cuts_do_not_depend_on_the_pieces(seed: u64, length in 0usize..10_000_000, piece in 100_000usize..3_000_000) {
            let content = noise(seed, length);
            let whole: Vec<usize> = cuts(&content, true).iter().map(ExactSizeIterator::len).collect();
            prop_assert_eq!(whole.iter().sum::<usize>(), length);
            prop_assert!(whole.iter().rev().skip(1).all(|&length| (MIN_BYTES..=MAX_BYTES).contains(&length)));
            prop_assert_eq!(&cuts_of_pieces(&content, |_| piece), &whole);
            prop_assert_eq!(&cuts_of_pieces(&content, |turn| piece >> (turn % 7)), &whole);
        }

        #[test]
        fn an_insertion_moves_the_cuts_with_the_bytes(seed: u64, at in 1_000_000usize..7_000_000, inserted in 1usize..5_000) {
            let old = noise(seed, 8_000_000);
            let mut new = old.clone();
            new.splice(at..at, noise(!seed, inserted));
            let hashes = |content: &[u8]| -> Vec<Sha256> {
                cuts(content, true).into_iter().map(|range| Sha256::of(&content[range])).collect()
            };
            let known = hashes(&old);
            let fresh = hashes(&new).into_iter().filter(|hash| !known.contains(hash)).count();
            prop_assert!(fresh <= 4, "{} new chunks", fresh);
        }
    }
}
