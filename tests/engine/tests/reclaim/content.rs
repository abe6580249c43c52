//! Content that is cut where the test wants it: blocks that are chunks, whatever follows them.

use std::sync::LazyLock;

use ledge_core::chunk;
use ledge_core::digest::Sha256;
use ledge_engine_tests::{Random, noise};
use sha2::Digest as _;

/// Cuts depend on what is before them and on two bytes behind: all blocks begin with these.
const BEGINNING: [u8; 2] = [0x4c, 0x65];

/// Seeds of noise that has a cut soon behind the least, and where: found by trying some 85,000.
const SEEDS: [(u64, usize); 6] = [
    (24028, 296_748),
    (28655, 263_690),
    (34715, 292_506),
    (44938, 282_997),
    (50174, 277_562),
    (85037, 295_159),
];

/// Chunks of a little over 256 KiB, which is the least, whichever of them follows.
pub(crate) static BLOCKS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let block = |(seed, size)| {
        let mut bytes = noise(seed, size);
        bytes[..2].copy_from_slice(&BEGINNING);
        bytes
    };
    SEEDS.into_iter().map(block).collect()
});

/// Chunks of some kilobytes: whole files.
pub(crate) static SMALL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    (0..5).map(|seed| noise(2000 + seed, 5000 + 700 * usize::try_from(seed).unwrap())).collect()
});

/// Some contents: small ones, and of one to three blocks, which they share.
pub(crate) static CONTENTS: LazyLock<Vec<&'static [u8]>> = LazyLock::new(|| {
    let mut random = Random::new(5);
    let mut contents: Vec<&'static [u8]> = SMALL.iter().map(Vec::as_slice).collect();
    contents.extend((0..40).map(|_| of(&blocks(&mut random))));
    contents
});

/// Their entity tags.
pub(crate) static ETAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut random = Random::new(5);
    let mut tags: Vec<String> = SMALL.iter().map(|small| etag(&[small])).collect();
    tags.extend(
        (0..40)
            .map(|_| etag(&blocks(&mut random).iter().map(|at| BLOCKS[*at].as_slice()).collect::<Vec<_>>())),
    );
    tags
});

fn blocks(random: &mut Random) -> Vec<usize> {
    (0..=random.below(3)).map(|_| random.below(BLOCKS.len())).collect()
}

/// Blocks, one after another.
pub(crate) fn of(blocks: &[usize]) -> &'static [u8] {
    blocks.iter().map(|at| BLOCKS[*at].as_slice()).collect::<Vec<_>>().concat().leak()
}

/// The entity tag of content that consists of these chunks.
pub(crate) fn etag(chunks: &[&[u8]]) -> String {
    let mut etag = sha2::Sha256::new();
    for chunk in chunks {
        etag.update(Sha256::of(chunk).0);
        etag.update((chunk.len() as u64).to_be_bytes());
    }
    Sha256(etag.finalize().into()).to_string()
}

#[test]
fn blocks_are_chunks() {
    for (first, second) in [(0, 1), (1, 2), (2, 0), (3, 2), (4, 1), (5, 5)] {
        let cuts = chunk::cuts(of(&[first, second]), true);
        let first_end = BLOCKS[first].len();
        assert_eq!(cuts, [0..first_end, first_end..first_end + BLOCKS[second].len()]);
    }
}
