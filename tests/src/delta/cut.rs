//! What a client makes of its own copy: chunks, packs, a manifest.

use std::ops::Range;

use ledge_core::chunk::Cutter;
use ledge_core::delta::pack::{HEADER_BYTES, MAX_PACK_BYTES, MAX_PACK_CHUNKS, header};
use ledge_core::digest::Sha256;
use serde_json::{Value, json};

/// A chunk of a local copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its SHA-256.
    pub hash: Sha256,
    /// Where it is.
    pub range: Range<usize>,
}

/// Cuts content as if it were read from a file, 1 MB at a time.
pub fn cut(content: &[u8]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut keep = |chunk: &[u8]| {
        let start = pieces.last().map_or(0, |last| last.range.end);
        pieces.push(Piece { hash: Sha256::of(chunk), range: start..start + chunk.len() });
        Ok::<(), ()>(())
    };
    let mut cutter = Cutter::default();
    content.chunks(1_000_000).for_each(|piece| cutter.push(piece, &mut keep).expect("it is kept"));
    cutter.finish(&mut keep).expect("it is kept");
    pieces
}

/// Packs these chunks, in as many packs as it takes.
pub fn packs<'a>(content: &[u8], pieces: impl IntoIterator<Item = &'a Piece>) -> Vec<Vec<u8>> {
    let mut packs: Vec<(usize, Vec<u8>)> = Vec::new();
    for Piece { hash, range } in pieces {
        let bytes = &content[range.clone()];
        let fits = |pack: &&mut (usize, Vec<u8>)| {
            let length = (pack.1.len() + HEADER_BYTES + bytes.len()) as u64;
            pack.0 < MAX_PACK_CHUNKS && length <= MAX_PACK_BYTES
        };
        if packs.last_mut().filter(fits).is_none() {
            packs.push((0, Vec::new()));
        }
        let (count, pack) = packs.last_mut().expect("one was begun");
        *count += 1;
        pack.extend(header(*hash, u32::try_from(bytes.len()).expect("at most 4 MiB")));
        pack.extend(bytes);
    }
    packs.into_iter().map(|(_, pack)| pack).collect()
}

/// The list of chunks as it is sent.
pub fn manifest(pieces: &[Piece]) -> Value {
    let chunks = pieces.iter().map(|piece| json!([piece.hash.to_string(), piece.range.len()]));
    json!({ "chunks": chunks.collect::<Vec<_>>() })
}
