//! The list of chunks that a version consists of.

use std::collections::HashMap;

use super::look_up;
use crate::auth;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::files::{Wanted, Which, chunks_statement, find_with};
use crate::manifest::{Extent, HOLE, KeyedPage};
use crate::ports::{Host, Platform, Row};
use crate::range::RangeSpec;
use crate::tree::{Address, Version};

/// How much content a list spans: of a file of many gigabytes, only what an answer can hold.
const SPAN_BYTES: u64 = 1024 * 1024 * 1024;

/// The most chunks that a list asks the index for, and the most that it has: 64 KiB each.
const MAX_LISTED: u64 = SPAN_BYTES / (64 * 1024);

/// A list, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkList {
    /// The version that is listed.
    pub version: Version,
    /// Its content, from where the list was to begin.
    pub chunks: Vec<Listed>,
    /// Where the rest begins; None at the end.
    pub next: Option<u64>,
}

/// A piece of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Its SHA-256; None where the index has no chunk of just these bytes: they were written in part, they are zeros that
    /// nobody stored, or the index has forgotten them.
    pub hash: Option<Sha256>,
    /// How long it is; never 0.
    pub length: u64,
}

/// Lists the chunks of a version from the position `from` on. One round trip.
///
/// # Errors
/// [`Error::NotFound`] for a token that is limited to a folder, as for what isn't there.
pub async fn list<P: Platform>(
    platform: &P,
    address: &Address,
    which: &Which,
    from: u64,
) -> Result<ChunkList> {
    let end = from.saturating_add(SPAN_BYTES);
    let span = [RangeSpec::From { first: from, last: Some(end.saturating_sub(1)) }];
    let first = vec![
        auth::look_up(&address.token, &address.space, platform.host().now()),
        chunks_statement(address, which, &span, MAX_LISTED),
    ];
    let (file, found) = find_with(platform, address, which, Wanted::Ranges(&span), first).await?;
    let version = file.version.clone();
    let blob = &version.blob;
    if from > blob.size_bytes {
        return Err(Error::invalid("from", format!("the content has {} bytes", blob.size_bytes)));
    }
    let mut list = Builder { from, end, at: 0, chunks: Vec::new() };
    if let Some(bytes) = &blob.inline {
        list.whole(bytes);
    } else {
        let index = Index::read(found.get(1).map(Vec::as_slice).unwrap_or_default())?;
        list.pages(file.pages(), &index);
        if let Some((start, bytes)) =
            file.tail().filter(|(start, _)| file.pages().is_empty() || list.at == *start)
        {
            list.at = start;
            list.whole(bytes);
        }
    }
    let next = (list.at.max(from) < blob.size_bytes).then_some(list.at.max(from));
    Ok(ChunkList { version, chunks: list.chunks, next })
}

/// Chunks by segment, in the order of their offsets.
struct Index(HashMap<u64, Vec<(u64, u64, Sha256)>>);

impl Index {
    fn read(rows: &[Row]) -> Result<Self> {
        let mut chunks: HashMap<u64, Vec<_>> = HashMap::new();
        for row in rows {
            let chunk = (row.unsigned("offset")?, row.unsigned("length")?, look_up::hash(row.text("hash")?)?);
            chunks.entry(row.unsigned("segment")?).or_default().push(chunk);
        }
        chunks.values_mut().for_each(|chunks| chunks.sort_unstable_by_key(|chunk| chunk.0));
        Ok(Self(chunks))
    }

    /// The first chunk that lies within `extent` and not before `offset`: where it begins, its length and hash.
    fn next(&self, extent: &Extent, offset: u64) -> Option<(u64, u64, Sha256)> {
        let chunks = self.0.get(&extent.segment).filter(|_| extent.segment != HOLE)?;
        let first = chunks.partition_point(|chunk| chunk.0 < offset);
        let end = extent.offset + extent.length;
        // Chunks don't overlap, so the first one that ends too late is the last one to look at.
        chunks.get(first).copied().filter(|(start, length, _)| start + length <= end)
    }
}

/// The list while it grows.
struct Builder {
    from: u64,
    end: u64,
    /// How far it has come.
    at: u64,
    chunks: Vec<Listed>,
}

impl Builder {
    /// Content that stands in the row is one chunk, though the index doesn't have it.
    fn whole(&mut self, bytes: &[u8]) {
        self.add((!bytes.is_empty()).then(|| Sha256::of(bytes)), bytes.len() as u64);
    }

    fn pages(&mut self, pages: &[KeyedPage], index: &Index) {
        for page in pages {
            self.at = page.start;
            for extent in &page.extents {
                if !self.extent(extent, index) {
                    return;
                }
            }
        }
    }

    /// Adds what an extent consists of; whether the list has room for more.
    fn extent(&mut self, extent: &Extent, index: &Index) -> bool {
        let stop = self.at.saturating_add(extent.length);
        while self.at < stop {
            if self.at >= self.end || self.chunks.len() as u64 >= MAX_LISTED {
                return false;
            }
            if stop <= self.from {
                self.at = stop;
                break;
            }
            let offset = extent.offset + (extent.length - (stop - self.at));
            match index.next(extent, offset) {
                Some((start, length, hash)) if start == offset => self.add(Some(hash), length),
                Some((start, ..)) => self.add(None, start - offset),
                None => self.add(None, stop - self.at),
            }
        }
        true
    }

    /// Adds a piece, or what of it isn't before the start of the list: that has no hash then.
    fn add(&mut self, hash: Option<Sha256>, length: u64) {
        let start = self.at;
        self.at += length;
        let before = self.from.saturating_sub(start).min(length);
        let length = length - before;
        let hash = hash.filter(|_| before == 0);
        match self.chunks.last_mut() {
            _ if length == 0 => {}
            Some(last) if last.hash.is_none() && hash.is_none() => last.length += length,
            _ => self.chunks.push(Listed { hash, length }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent(segment: u64, offset: u64, length: u64) -> Extent {
        Extent { segment, offset, length, crc32: 0 }
    }

    fn hash(n: u8) -> Sha256 {
        Sha256([n; 32])
    }

    fn listed(extents: &[Extent], index: &Index, from: u64) -> Vec<(Option<u8>, u64)> {
        let page = KeyedPage { start: 0, extents: extents.to_vec(), keys: HashMap::new() };
        let mut list = Builder { from, end: from + SPAN_BYTES, at: 0, chunks: Vec::new() };
        list.pages(&[page], index);
        list.chunks.iter().map(|it| (it.hash.map(|hash| hash.0[0]), it.length)).collect()
    }

    #[test]
    fn extents_are_taken_apart_into_their_chunks() {
        let chunks = vec![(0, 10, hash(1)), (10, 20, hash(2)), (40, 10, hash(3))];
        let index = Index(HashMap::from([(7, chunks)]));
        let whole = [extent(7, 0, 50), extent(HOLE, 0, 5), extent(7, 10, 20), extent(8, 0, 3)];
        let all =
            [(Some(1), 10), (Some(2), 20), (None, 10), (Some(3), 10), (None, 5), (Some(2), 20), (None, 3)];
        assert_eq!(listed(&whole, &index, 0), all);
        assert_eq!(listed(&whole, &index, 10), all[1..]);
        assert_eq!(listed(&whole, &index, 12)[..2], [(None, 28), (Some(3), 10)]);
        // An extent that an edit has cut in the middle of a chunk.
        assert_eq!(listed(&[extent(7, 5, 20)], &index, 0), [(None, 20)]);
        assert_eq!(listed(&[extent(7, 5, 25)], &index, 0), [(None, 5), (Some(2), 20)]);
        assert_eq!(listed(&[], &index, 0), []);
    }

    proptest! {
        /// Whatever the index has, the pieces are all of the content, and each hash stands for just its bytes.
        #[test]
        fn the_pieces_are_the_content(
            known in prop::collection::vec((1u64..20, any::<bool>()), 0..20),
            extents in prop::collection::vec((0u64..100, 1u64..60), 0..10),
            from in 0u64..200,
        ) {
            let (mut at, mut chunks) = (0, Vec::new());
            for (n, (length, has)) in known.iter().enumerate() {
                if *has {
                    chunks.push((at, *length, hash(n as u8)));
                }
                at += length;
            }
            let index = Index(HashMap::from([(7, chunks.clone())]));
            let extents: Vec<Extent> = extents.iter().map(|(offset, length)| extent(7, *offset, *length)).collect();
            let size: u64 = extents.iter().map(|extent| extent.length).sum();
            let pieces = listed(&extents, &index, from);
            prop_assert_eq!(pieces.iter().map(|piece| piece.1).sum::<u64>(), size.saturating_sub(from));
            for (hash, length) in pieces {
                if let Some(n) = hash {
                    prop_assert!(chunks.iter().any(|chunk| chunk.2.0[0] == n && chunk.1 == length));
                }
            }
        }
    }
}
