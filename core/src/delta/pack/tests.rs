//! The format, read back whatever pieces it comes in, and whatever is done to it.

use futures::FutureExt;
use proptest::prelude::*;

use super::*;
use crate::chunk::noise;
use crate::ports::UploadError;

/// A body that comes in pieces of this size, and may be cut off.
struct Pieces<'a> {
    rest: &'a [u8],
    piece: usize,
    cut: bool,
}

impl Upload for Pieces<'_> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        if self.rest.is_empty() && self.cut {
            return Err(UploadError::Cut("the connection broke".to_owned()));
        }
        let (now, later) = self.rest.split_at(self.rest.len().min(at_most).min(self.piece));
        into.extend_from_slice(now);
        self.rest = later;
        Ok(now.len())
    }
}

/// These bodies never let anyone wait.
fn block_on<T>(reading: impl Future<Output = T>) -> T {
    reading.now_or_never().expect("it waits for nothing")
}

fn packed(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut pack = Vec::new();
    for chunk in chunks {
        pack.extend(header(Sha256::of(chunk), chunk.len() as u32));
        pack.extend(chunk);
    }
    pack
}

/// Reads a pack through a buffer of `size` bytes.
fn unpack(body: &[u8], piece: usize, size: usize) -> Result<Vec<(Sha256, Vec<u8>)>> {
    let mut pack = Pack::new(Pieces { rest: body, piece, cut: false });
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    while !pack.ended() {
        for chunk in block_on(pack.fill(&mut buffer, size))? {
            assert_eq!(chunk.number, found.len());
            assert!(buffer.len() <= size);
            found.push((chunk.hash, buffer[chunk.range].to_vec()));
        }
    }
    Ok(found)
}

fn reason(body: &[u8]) -> String {
    match unpack(body, 1 << 20, MAX_BYTES) {
        Err(Error::Invalid { field: "body", reason }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_format_is_fixed() {
    let pack = packed(&[b"abc".to_vec()]);
    assert_eq!(
        data_encoding::HEXLOWER.encode(&pack),
        "00000003ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad616263"
    );
}

#[test]
fn what_is_no_pack_is_refused_and_says_where() {
    let good = packed(&[noise(1, 10), noise(2, 20)]);
    assert!(reason(b"").contains("no chunk"));
    assert!(reason(&good[..30]).contains("chunk 0 of the pack: the body ends within its length and hash"));
    assert!(reason(&good[..40]).contains("chunk 0 of the pack: the body ends before"));
    assert!(reason(&good[..good.len() - 1]).contains("chunk 1 of the pack: the body ends before"));
    let mut trailing = good.clone();
    trailing.push(0);
    assert!(reason(&trailing).contains("chunk 2 of the pack: the body ends within"));
    for length in [0u32, MAX_BYTES as u32 + 1, u32::MAX] {
        let lie = header(Sha256([0; 32]), length);
        assert!(reason(&lie).contains(&format!("its length is {length}")), "{length}");
    }
}

#[test]
fn a_pack_has_an_end() {
    let many = vec![vec![7]; MAX_PACK_CHUNKS];
    assert_eq!(unpack(&packed(&many), 1 << 20, MAX_BYTES).unwrap().len(), MAX_PACK_CHUNKS);
    let more = vec![vec![7]; MAX_PACK_CHUNKS + 1];
    assert!(reason(&packed(&more)).contains("at most 1024 chunks"));
    let large = vec![vec![0; MAX_BYTES]; 8];
    let refused = unpack(&packed(&large), 1 << 20, 2 * MAX_BYTES);
    assert_eq!(refused, Err(Error::BodyTooLarge { limit_bytes: MAX_PACK_BYTES }));
}

#[test]
fn a_connection_that_breaks_is_never_an_end() {
    let body = packed(&[noise(1, 10)]);
    let mut pack = Pack::new(Pieces { rest: &body, piece: 7, cut: true });
    assert!(block_on(pack.fill(&mut Vec::new(), MAX_BYTES)).is_err());
}

proptest! {
    #[test]
    fn what_was_packed_is_read_back(
        lengths in prop::collection::vec(1usize..200_000, 1..40),
        piece in 1usize..70_000,
    ) {
        let chunks: Vec<Vec<u8>> =
            lengths.iter().enumerate().map(|(n, length)| noise(n as u64 + 1, *length)).collect();
        let read = unpack(&packed(&chunks), piece, MAX_BYTES).unwrap();
        let expected: Vec<_> = chunks.into_iter().map(|chunk| (Sha256::of(&chunk), chunk)).collect();
        prop_assert_eq!(read, expected);
    }

    /// Bytes of any kind, and packs with something done to them, are read or refused: no panic, and nothing is read that
    /// isn't there.
    #[test]
    fn anything_is_read_or_refused(
        mut body in prop::collection::vec(any::<u8>(), 0..600),
        lengths in prop::collection::vec(1usize..60, 0..8),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        piece in 1usize..50,
    ) {
        if !lengths.is_empty() {
            body = packed(&lengths.iter().map(|length| noise(9, *length)).collect::<Vec<_>>());
            for (at, byte) in damage {
                let at = at.index(body.len());
                body[at] = byte;
            }
        }
        if let Ok(chunks) = unpack(&body, piece, MAX_BYTES) {
            let bytes: usize = chunks.iter().map(|(_, chunk)| HEADER_BYTES + chunk.len()).sum();
            prop_assert_eq!(bytes, body.len());
        }
    }
}
