//! A drive in memory: immutable segments for a bucket, rows of pages and of chunks for a database, and the flow of an
//! edit through them as a use case has it: find the chunk, read the edges, re-chunk, deduplicate, splice.

use super::*;
use crate::chunk::{Rechunk, Sizes, Span, Wants};
use crate::digest::Sha256;
use crate::manifest::Extents;

/// Content of at most this size stays inline: scaled down like the chunks.
pub(super) const INLINE_BYTES: usize = 64;
/// As is this: at most some eight chunks a segment.
pub(super) const SEGMENT_BYTES: usize = 2_048;

/// A file's content.
#[derive(Debug, Clone)]
pub(super) enum Stored {
    Inline(Vec<u8>),
    Paged(Blob),
}

impl Stored {
    pub(super) fn size_bytes(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Paged(blob) => blob.size_bytes,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Drive {
    pub(super) rows: Rows,
    segments: Vec<Vec<u8>>,
    known: HashMap<Sha256, Extent>,
    /// The rows of the chunk index, as a look-up by segment finds them.
    chunks: Vec<Extent>,
    /// One in so many chunks has no row: another upload's row stands for it.
    lost: Option<u8>,
    segment_bytes: usize,
    /// Old bytes read by the last edit.
    pub(super) read_bytes: u64,
}

impl Drive {
    pub(super) fn with(lost: Option<u8>, segment_bytes: usize) -> Self {
        Self { lost, segment_bytes, ..Self::default() }
    }

    pub(super) fn put(&mut self, bytes: Vec<u8>) -> Stored {
        if bytes.len() <= INLINE_BYTES {
            return Stored::Inline(bytes);
        }
        self.stored(&bytes, 0)
    }

    /// A file that begins with a hole.
    pub(super) fn put_behind_hole(&mut self, length: u64, bytes: &[u8]) -> Stored {
        self.stored(bytes, length)
    }

    /// Replaces bytes: patches, inserts, deletes, truncates, appends.
    pub(super) fn replace(&mut self, old: &Stored, dirty: Range<u64>, new: &[u8]) -> Stored {
        self.read_bytes = 0;
        let blob = match old {
            Stored::Paged(blob) => blob,
            Stored::Inline(bytes) => {
                let mut bytes = bytes.clone();
                let gap = (dirty.start as usize).saturating_sub(bytes.len());
                bytes.resize(bytes.len() + gap, 0);
                bytes
                    .splice(dirty.start as usize..(dirty.end as usize).min(bytes.len()), new.iter().copied());
                return self.put(bytes);
            }
        };
        // What lies between the end and a patch beyond it becomes a hole.
        let near = dirty.start.min(blob.size_bytes)..dirty.end.min(blob.size_bytes);
        let loaded = self.rows.load(&pages_to_splice(&blob.pages, blob.size_bytes, &near));
        let mut parts = self.chunks_of(loaded.values().flatten());
        let mut spans = spans(&blob.manifest(&loaded), &near, &parts).unwrap();
        let mut extents = Extents::default();
        let mut at = dirty.clone();
        if dirty.start > blob.size_bytes {
            spans.push(Span { start: blob.size_bytes, end: dirty.start, hole: true });
            extents.push(hole(dirty.start - blob.size_bytes));
            at.end = dirty.start;
        } else {
            at.end = near.end;
        }
        let replaced = self.rechunk(blob, &spans, at, new, &mut extents);
        let replaced = replaced.start.min(blob.size_bytes)..replaced.end.min(blob.size_bytes);
        Stored::Paged(self.splice(blob, replaced, extents.as_slice(), &mut parts))
    }

    /// Removes bytes without a look at chunks: extents end where they end.
    pub(super) fn remove(&mut self, old: &Stored, range: Range<u64>) -> Stored {
        let blob = self.paged(old);
        Stored::Paged(self.splice(&blob, range, &[], &mut Parts::default()))
    }

    pub(super) fn extend(&mut self, old: &Stored, by: u64) -> Stored {
        let blob = self.paged(old);
        let end = blob.size_bytes;
        Stored::Paged(self.splice(&blob, end..end, &[hole(by)], &mut Parts::default()))
    }

    pub(super) fn concat(&mut self, files: &[&Stored]) -> Stored {
        let fresh: Vec<Extents> = files
            .iter()
            .map(|file| match file {
                Stored::Inline(bytes) => self.ingest(bytes),
                Stored::Paged(_) => Extents::default(),
            })
            .collect();
        let pages: Vec<PageRef> = files
            .iter()
            .flat_map(|file| match file {
                Stored::Inline(_) => Vec::new(),
                Stored::Paged(blob) => pages_to_concat(&blob.pages),
            })
            .collect();
        let loaded = self.rows.load(&pages);
        let pieces: Vec<Piece<'_>> = files
            .iter()
            .zip(&fresh)
            .map(|(file, fresh)| match file {
                Stored::Inline(_) => Piece::Extents(fresh.as_slice()),
                Stored::Paged(blob) => Piece::Blob(blob.manifest(&loaded)),
            })
            .collect();
        Stored::Paged(self.rows.commit(&concat(&pieces).unwrap()))
    }

    pub(super) fn read(&self, file: &Stored, range: Range<u64>) -> Vec<u8> {
        match file {
            Stored::Inline(bytes) => bytes[range.start as usize..range.end as usize].to_vec(),
            Stored::Paged(blob) => self.rows.read(blob, range, |segment, range| {
                self.segments[segment as usize - 1][range.start as usize..range.end as usize].to_vec()
            }),
        }
    }

    fn rechunk(
        &mut self,
        blob: &Blob,
        spans: &[Span],
        dirty: Range<u64>,
        mut new: &[u8],
        extents: &mut Extents,
    ) -> Range<u64> {
        let mut rechunk = Rechunk::with(Sizes::SMALL, spans, dirty);
        let (mut buffer, mut segment) = (Vec::new(), self.segments.len());
        loop {
            match rechunk.wants() {
                Wants::Old(range) => {
                    self.read_bytes += range.end - range.start;
                    buffer.extend(self.read(&Stored::Paged(blob.clone()), range));
                }
                Wants::New if new.is_empty() => rechunk.end_of_new(),
                Wants::New => {
                    let (piece, rest) = new.split_at(new.len().min(700));
                    buffer.extend_from_slice(piece);
                    new = rest;
                }
                Wants::Nothing => break,
            }
            let found = rechunk.cuts(&buffer);
            let end = found.last().map_or(0, |last| last.end);
            for chunk in found {
                extents.push(self.chunk(&buffer[chunk], &mut segment));
            }
            buffer.drain(..end);
        }
        rechunk.replaces().unwrap()
    }

    fn splice(&mut self, blob: &Blob, range: Range<u64>, new: &[Extent], parts: &mut Parts) -> Blob {
        let segments = &self.segments;
        self.rows.splice(blob, range, new, parts, |Missing { segment, offset, length }| {
            crc32fast::hash(&segments[segment as usize - 1][offset as usize..(offset + length) as usize])
        })
    }

    fn stored(&mut self, bytes: &[u8], behind_hole: u64) -> Stored {
        let mut extents = Extents::default();
        if behind_hole > 0 {
            extents.push(hole(behind_hole));
        }
        self.ingest(bytes).as_slice().iter().for_each(|extent| extents.push(*extent));
        let edit = concat(&[Piece::Extents(extents.as_slice())]).unwrap();
        Stored::Paged(self.rows.commit(&edit))
    }

    fn paged(&mut self, file: &Stored) -> Blob {
        match file {
            Stored::Paged(blob) => blob.clone(),
            Stored::Inline(bytes) => match self.stored(&bytes.clone(), 0) {
                Stored::Paged(blob) => blob,
                Stored::Inline(_) => unreachable!(),
            },
        }
    }

    fn ingest(&mut self, bytes: &[u8]) -> Extents {
        let (mut extents, mut segment) = (Extents::default(), self.segments.len());
        for chunk in Sizes::SMALL.cuts(bytes, true) {
            extents.push(self.chunk(&bytes[chunk], &mut segment));
        }
        extents
    }

    /// References a chunk that is known; appends another to the ingest's segment, index `segment`, or to its next.
    fn chunk(&mut self, bytes: &[u8], segment: &mut usize) -> Extent {
        let hash = Sha256::of(bytes);
        if let Some(known) = self.known.get(&hash) {
            return *known;
        }
        if self.segments.get(*segment).is_some_and(|packed| packed.len() + bytes.len() > self.segment_bytes) {
            *segment += 1;
        }
        self.segments.resize(self.segments.len().max(*segment + 1), Vec::new());
        let packed = &mut self.segments[*segment];
        let (offset, length) = (packed.len() as u64, bytes.len() as u64);
        packed.extend_from_slice(bytes);
        let extent = Extent { segment: *segment as u64 + 1, offset, length, crc32: crc32fast::hash(bytes) };
        if self.lost.is_none_or(|lost| !hash.0[0].is_multiple_of(lost)) {
            self.known.insert(hash, extent);
            self.chunks.push(extent);
        }
        extent
    }

    fn chunks_of<'a>(&self, extents: impl Iterator<Item = &'a Extent>) -> Parts {
        let segments: std::collections::HashSet<u64> = extents.map(|extent| extent.segment).collect();
        self.chunks.iter().filter(|chunk| segments.contains(&chunk.segment)).copied().collect()
    }
}
