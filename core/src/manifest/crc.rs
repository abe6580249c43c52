//! CRC-32 as algebra: of wholes from parts, of parts from wholes, of zeros. No function here looks at content.

/// The CRC-32 of two pieces in a row, from the CRC-32 of each and the second one's length.
pub fn combine_crc32(first: u32, second: u32, second_length: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial_len(first, 0);
    hasher.combine(&crc32fast::Hasher::new_with_initial_len(second, second_length));
    hasher.finalize()
}

/// The CRC-32 of so many zeros: the register begins with ones, the zeros shift it, and the result is inverted.
pub fn crc32_of_zeros(length: u64) -> u32 {
    !combine_crc32(!0, 0, length)
}

/// The CRC-32 of the first of two pieces.
pub(super) fn first_crc32(whole: u32, second: u32, second_length: u64) -> u32 {
    // The polynomial is primitive: after 2^32 - 1 zero bytes the register is what it was, so this many undo the
    // shift by `second_length`.
    const PERIOD: u64 = u32::MAX as u64;
    combine_crc32(whole ^ second, 0, PERIOD - second_length % PERIOD)
}

/// The CRC-32 of the second of two pieces.
pub(super) fn second_crc32(whole: u32, first: u32, second_length: u64) -> u32 {
    combine_crc32(first, 0, second_length) ^ whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zeros_have_the_crc_of_zeros() {
        for length in [0, 1, 2, 3, 4_096, 4_097, 1_000_000] {
            assert_eq!(crc32_of_zeros(length), crc32fast::hash(&vec![0; length as usize]), "{length}");
        }
        // By doubling, up to 2^52.
        let mut crc = crc32fast::hash(&[0]);
        for power in 0..52 {
            assert_eq!(crc32_of_zeros(1 << power), crc, "2^{power}");
            crc = combine_crc32(crc, crc, 1 << power);
        }
    }

    #[test]
    fn nothing_is_the_second_of_two_pieces() {
        let first = crc32fast::hash(b"first");
        assert_eq!((first_crc32(first, 0, 0), second_crc32(first, first, 0)), (first, 0));
    }

    proptest! {
        #[test]
        fn two_of_whole_first_and_second_give_the_third(
            first in prop::collection::vec(any::<u8>(), 0..100),
            second in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let whole = crc32fast::hash(&[first.as_slice(), &second].concat());
            let (one, two, length) = (crc32fast::hash(&first), crc32fast::hash(&second), second.len() as u64);
            prop_assert_eq!(combine_crc32(one, two, length), whole);
            prop_assert_eq!(first_crc32(whole, two, length), one);
            prop_assert_eq!(second_crc32(whole, one, length), two);
        }

        #[test]
        fn that_holds_for_any_length(one in any::<u32>(), two in any::<u32>(), length in 1u64..) {
            let whole = combine_crc32(one, two, length);
            prop_assert_eq!(first_crc32(whole, two, length), one);
            prop_assert_eq!(second_crc32(whole, one, length), two);
        }
    }
}
