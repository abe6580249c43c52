//! What reads bytes that anybody may have made: no bytes panic it, hang it, or make it take more memory than it says.
//!
//! A corpus of files, which is in the repository, is changed at random: bits, bytes, numbers that are interesting, pieces that
//! are cut, doubled, moved or taken from another file. What once failed becomes a file of the corpus. `LEDGE_FUZZ_EXECUTIONS` says
//! how often (20,000 where it isn't given), `LEDGE_FUZZ_SEED` with which beginning.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

mod pictures;

use std::path::Path;

use ledge_core::unzip::{TAIL_BYTES, find_end, inflate, read_central, read_local};

/// xorshift64*: the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 11).unwrap_or_default() % end.max(1)
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a corpus").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("a file")).collect()
}

/// Numbers at which something ends.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_fffe,
    0xffff_ffff,
    1 << 53,
    u64::MAX - 1,
    u64::MAX,
];

fn changed(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(6) {
        let (at, length) = (random.below(bytes.len()), random.below(64));
        let end = bytes.len().min(at + length);
        match random.below(8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 if !bytes.is_empty() => bytes[at] = random.next().to_le_bytes()[0],
            2 | 3 => {
                let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
                let count = [1, 2, 4, 8][random.below(4)].min(bytes.len().saturating_sub(at));
                bytes[at..at + count].copy_from_slice(&edge[..count]);
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            6 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                let piece = other[from..other.len().min(from + length)].to_vec();
                bytes.splice(at..end, piece);
            }
            _ => bytes.truncate(bytes.len() - random.below(bytes.len().min(64))),
        }
    }
    bytes
}

/// Reads a ZIP file as requests do, every entry of it; how many were read to their end.
fn read_zip(bytes: &[u8]) -> usize {
    let size = bytes.len() as u64;
    let Ok(end) = find_end(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..], size) else { return 0 };
    assert!(end.directory.start <= end.directory.end && end.directory.end <= size);
    assert!(end.before <= end.directory.start);
    let place = |at: u64| usize::try_from(at).expect("it is in memory");
    let mut rest = &bytes[place(end.directory.start)..place(end.directory.end)];
    let mut whole = 0;
    while let Ok(Some((central, length))) = read_central(rest) {
        assert!(length >= 46 && length <= rest.len());
        rest = &rest[length..];
        let start = end.before.checked_add(central.offset).filter(|start| *start < end.directory.start);
        let Some(start) = start else { continue };
        let before = &bytes[place(start)..place(end.directory.start)];
        let Ok(local) = read_local(before, &central) else { continue };
        let stop = local.checked_add(central.packed_bytes).filter(|stop| *stop <= before.len() as u64);
        let Some(stop) = stop else { continue };
        let packed = &before[place(local)..place(stop)];
        if central.method == 8 && central.size_bytes <= 1 << 20 {
            if let Ok(content) = inflate(packed, central.size_bytes, central.crc32) {
                assert_eq!(content.len() as u64, central.size_bytes);
                whole += 1;
            }
        } else {
            whole += 1;
        }
    }
    whole
}

#[test]
fn no_bytes_are_too_much_for_the_reader_of_zip_files() {
    let corpus = corpus("zip");
    assert!(corpus.len() >= 10);
    let whole: usize = corpus.iter().map(|bytes| read_zip(bytes)).sum();
    assert!(whole >= 15, "{whole} entries");
    let (executions, seed) = (number("LEDGE_FUZZ_EXECUTIONS", 20_000), number("LEDGE_FUZZ_SEED", 1));
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut read = 0;
    for _ in 0..executions {
        read += read_zip(&changed(&mut random, &corpus));
    }
    assert!(read > 0, "changes leave nothing to read");
    println!("{executions} executions, {read} entries read to their end");
}
