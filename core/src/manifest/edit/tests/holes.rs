//! Holes of gigabytes: positions beyond 32 bits, and work that doesn't grow with them.

use super::store::{Drive, Stored};
use super::*;
use crate::chunk::noise;

const GIB: u64 = 1 << 30;

/// The bytes around `at`, and whether they are `expected` between zeros.
fn assert_between_zeros(drive: &Drive, file: &Stored, at: u64, expected: &[u8]) {
    let before = 100.min(at);
    let behind = 100.min(file.size_bytes() - at - expected.len() as u64);
    let around = [&vec![0; before as usize], expected, &vec![0; behind as usize]].concat();
    assert_eq!(drive.read(file, at - before..at + expected.len() as u64 + behind), around);
}

fn blob(file: &Stored) -> &Blob {
    match file {
        Stored::Paged(blob) => blob,
        Stored::Inline(_) => panic!("inline"),
    }
}

#[test]
fn writing_into_a_hole_reads_nothing_and_splits_it() {
    let new = noise(3, 3_000);
    for at in [0, 1, 4_096, 4_097, 256 << 10, 8 << 20, 4 * GIB - 1, 4 * GIB, 4 * GIB + 1, 8 * GIB - 3_000] {
        let mut drive = Drive::default();
        let sparse = drive.put_behind_hole(8 * GIB, &[]);
        let file = drive.replace(&sparse, at..at + 3_000, &new);
        assert_eq!((drive.read_bytes, file.size_bytes()), (0, 8 * GIB));
        assert_between_zeros(&drive, &file, at, &new);
        let crc32 = combine_crc32(hole(at).crc32, crc32fast::hash(&new), 3_000);
        let rest = 8 * GIB - 3_000 - at;
        assert_eq!(blob(&file).crc32, combine_crc32(crc32, hole(rest).crc32, rest));

        // And zeros again, of the same size: the hole is whole.
        let blob = blob(&file);
        let blob = drive.rows.splice(blob, at..at + 3_000, &[hole(3_000)], &mut Parts::default(), |_| 0);
        assert_eq!(drive.rows.pages[&blob.pages[0].page], [hole(8 * GIB)]);
        assert_eq!(blob.crc32, hole(8 * GIB).crc32);
    }
}

#[test]
fn a_patch_beyond_the_end_leaves_a_hole_and_the_end_as_it_was() {
    let old = noise(4, 5_000);
    for size in [0, 1, 64, 65, 4_096, 4_097, 5_000] {
        let mut drive = Drive::default();
        let file = drive.put(old[..size].to_vec());
        // What is inline is stored before there is a hole.
        let file = drive.extend(&file, 4 * GIB);
        let file = drive.replace(&file, 6 * GIB..6 * GIB + 5_000, &old);
        assert_eq!((drive.read_bytes, file.size_bytes()), (0, 6 * GIB + 5_000));
        assert_eq!(drive.read(&file, 0..size as u64), old[..size]);
        assert_between_zeros(&drive, &file, 6 * GIB, &old);
        let cut = drive.replace(&file, 4 * GIB + 1..file.size_bytes(), &[]);
        assert_eq!((drive.read_bytes, cut.size_bytes()), (0, 4 * GIB + 1));
        let cut = drive.replace(&cut, size as u64..cut.size_bytes(), &[]);
        assert_eq!(drive.read(&cut, 0..size as u64), old[..size]);
        assert_eq!(blob(&cut).crc32, crc32fast::hash(&old[..size]));
    }
}

#[test]
fn sizes_at_every_boundary_keep_their_crc() {
    for size in [2, 4_096, 4_097, 256 << 10, (256 << 10) + 1, 8 << 20, (8 << 20) + 1, 4 * GIB, 4 * GIB + 1] {
        let mut rows = Rows::default();
        let one = Extent { segment: 1, offset: 0, length: size, crc32: 77 };
        let blob = rows.splice(&Blob::default(), 0..0, &[one], &mut Parts::default(), |_| 0);
        let (half, rest) = (size / 2, size - size / 2);
        // The CRC-32 of one half tells that of the other.
        let part = Extent { segment: 1, offset: half, length: rest, crc32: 5 };
        let known = |missing| panic!("{missing:?} is known");
        let blob = rows.splice(&blob, half..half, &[hole(9)], &mut [part].into_iter().collect(), known);
        assert_eq!(blob.size_bytes, size + 9);
        assert_eq!(rows.pages[&blob.pages[0].page].last(), Some(&part));
        let whole = rows.splice(&blob, half..half + 9, &[], &mut Parts::default(), known);
        assert_eq!((whole.size_bytes, whole.crc32), (size, 77));
        assert_eq!(rows.pages[&whole.pages[0].page], [one]);
    }
}
