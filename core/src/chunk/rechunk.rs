//! Re-chunking around an edit: of the old content, only what lies near the edit is read.
//!
//! Cuts restart at every cut, so an edit changes the cuts from the chunk that it touches first to the first cut that
//! lands on an old one. [`Rechunk`] says which old bytes it needs, and when it needs no more; it holds none itself.
//!
//! ```
//! use ledge_core::chunk::{Rechunk, Span, Wants};
//!
//! // Replaces one byte of "one two" by what comes in pieces.
//! let (old, mut body) = (b"one two", ["-", "and", "-"].iter());
//! let (mut buffer, mut stored) = (Vec::new(), Vec::new());
//! let mut rechunk = Rechunk::new(&[Span { start: 0, end: 7, hole: false }], 3..4);
//! loop {
//!     match rechunk.wants() {
//!         Wants::Old(range) => buffer.extend_from_slice(&old[range.start as usize..range.end as usize]),
//!         Wants::New => match body.next() {
//!             Some(piece) => buffer.extend_from_slice(piece.as_bytes()),
//!             None => rechunk.end_of_new(),
//!         },
//!         Wants::Nothing => break,
//!     }
//!     let chunks = rechunk.cuts(&buffer);
//!     let end = chunks.last().map_or(0, |last| last.end);
//!     stored.extend(chunks.into_iter().map(|chunk| buffer[chunk].to_vec()));
//!     buffer.drain(..end);
//! }
//! assert_eq!(stored, [b"one-and-two"]);
//! assert_eq!(rechunk.replaces(), Some(0..7));
//! ```

use std::ops::Range;

use super::{LOOKAHEAD_BYTES, Sizes};

/// Where one piece of the old content lies: a chunk, a hole, or something whose chunks aren't known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The position of its first byte.
    pub start: u64,
    /// The position behind its last byte.
    pub end: u64,
    /// Whether it is zeros that are stored nowhere. They are never read, and content on either side of them is
    /// chunked by itself.
    pub hole: bool,
}

/// What to append to the buffer next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wants {
    /// These bytes of the old content; in pieces, if they are many.
    Old(Range<u64>),
    /// The new bytes, up to [`Rechunk::end_of_new`].
    New,
    /// Nothing: what follows is chunked as it was. What is left in the buffer is of no use.
    Nothing,
}

/// The re-chunking of an edit that replaces a range of the old content by new bytes: by none to delete or truncate,
/// an empty range to insert or append.
///
/// Where `spans` are chunks as [`cuts`](super::cuts) finds them and new cuts land on old ones within reach, the
/// content is then cut as if all of it had been chunked anew. Whatever the spans are, what
/// [`replaces`](Self::replaces) names is to be replaced by the chunks that were cut.
///
/// Of old chunks, at most [`MAX_BYTES`](super::MAX_BYTES) are read before the edit, and at most five times as much
/// behind it: where no cut lands on an old one within four, as in content that repeats itself, an old boundary becomes
/// a cut. On average it is half a chunk before the edit and little more behind it.
#[derive(Debug)]
pub struct Rechunk {
    sizes: Sizes,
    /// Where in the old content the first new chunk begins.
    start: u64,
    dirty: Range<u64>,
    /// Positions in the old content, ascending, at which a cut ends the re-chunking; at the last one it ends anyway.
    boundaries: Vec<u64>,
    /// How many new bytes there are, when that is known.
    inserted: Option<u64>,
    /// How many bytes from `start` on have been cut.
    cut: u64,
    /// How many bytes from `start` on have been seen.
    seen: u64,
    landed: Option<u64>,
}

impl Rechunk {
    /// Re-chunks around the edit that replaces `dirty`. `spans` are the old content's, in order; those within `dirty`
    /// may be missing, and where others end, so does the re-chunking.
    pub fn new(spans: &[Span], dirty: Range<u64>) -> Self {
        Self::with(Sizes::STORED, spans, dirty)
    }

    pub(crate) fn with(sizes: Sizes, spans: &[Span], dirty: Range<u64>) -> Self {
        let reach = 4 * sizes.max as u64;
        Self::reaching(sizes, reach, spans, dirty)
    }

    fn reaching(sizes: Sizes, reach: u64, spans: &[Span], dirty: Range<u64>) -> Self {
        let dirty = dirty.start..dirty.end.max(dirty.start);
        Self {
            sizes,
            start: start(sizes, spans, dirty.start),
            boundaries: boundaries(spans, dirty.end, dirty.end.saturating_add(reach)),
            dirty,
            inserted: None,
            cut: 0,
            seen: 0,
            landed: None,
        }
    }

    /// What to append to the buffer next.
    pub fn wants(&self) -> Wants {
        if self.landed.is_some() {
            return Wants::Nothing;
        }
        let position = self.start.saturating_add(self.seen);
        if position < self.dirty.start {
            return Wants::Old(position..self.dirty.start);
        }
        let Some(at) = self.inserted.and_then(|inserted| self.old_position(inserted, self.seen)) else {
            return Wants::New;
        };
        // No chunk that ends sooner would be long enough; and shorter requests cost more time than their bytes.
        let enough = at.saturating_add(self.sizes.min as u64);
        let stop = self.stop();
        let next = self.boundaries.iter().copied().find(|&boundary| boundary >= enough).unwrap_or(stop);
        Wants::Old(at..next.saturating_add(LOOKAHEAD_BYTES).min(stop))
    }

    /// The chunks at the start of `buffer` whose ends are certain, as [`cuts`](super::cuts). The buffer begins where
    /// the last chunk ended. To be called whenever something was appended, and after [`end_of_new`](Self::end_of_new).
    pub fn cuts(&mut self, buffer: &[u8]) -> Vec<Range<usize>> {
        if self.landed.is_some() {
            return Vec::new();
        }
        self.seen = self.cut.saturating_add(buffer.len() as u64);
        let ended = self
            .inserted
            .and_then(|inserted| self.old_position(inserted, self.seen))
            .is_some_and(|position| position >= self.stop());
        let mut found = self.sizes.cuts(buffer, ended);
        let mut count = 0;
        for chunk in &found {
            self.cut = self.cut.saturating_add(chunk.len() as u64);
            count += 1;
            if self.lands() {
                break;
            }
        }
        found.truncate(count);
        found
    }

    /// All new bytes have been appended and [`cut`](Self::cuts).
    pub fn end_of_new(&mut self) {
        if self.inserted.is_none() {
            self.inserted = Some(self.seen.saturating_sub(self.head()));
            self.lands();
        }
    }

    /// The range of the old content that the chunks replace, once [`Wants::Nothing`] more is wanted.
    pub fn replaces(&self) -> Option<Range<u64>> {
        self.landed.map(|end| self.start..end)
    }

    /// Whether the last cut is one of the old boundaries.
    fn lands(&mut self) -> bool {
        self.landed = self
            .inserted
            .and_then(|inserted| self.old_position(inserted, self.cut))
            .filter(|position| self.boundaries.binary_search(position).is_ok());
        self.landed.is_some()
    }

    /// How many old bytes come before the new ones.
    fn head(&self) -> u64 {
        self.dirty.start.saturating_sub(self.start)
    }

    /// Where the old bytes continue after `count` bytes from `start` on; None before the end of the new ones.
    fn old_position(&self, inserted: u64, count: u64) -> Option<u64> {
        let behind = count.checked_sub(self.head())?.checked_sub(inserted)?;
        Some(self.dirty.end.saturating_add(behind))
    }

    fn stop(&self) -> u64 {
        self.boundaries.last().copied().unwrap_or(self.dirty.end)
    }
}

/// The last position up to `dirty` at which a new chunk may begin: the bytes that made the cut there stay as they are.
fn start(sizes: Sizes, spans: &[Span], dirty: u64) -> u64 {
    let mut at = dirty;
    for span in spans.iter().rev().filter(|span| span.start < dirty) {
        let cut_unseen = span.hole || span.end.saturating_sub(span.start) == sizes.max as u64;
        // Of a hole, any part can stay; and what isn't known can't be better.
        if span.end < at || span.hole || (cut_unseen && span.end == at) {
            break;
        }
        at = span.start;
        if at.saturating_add(LOOKAHEAD_BYTES) <= dirty {
            break;
        }
    }
    at
}

/// Where the re-chunking may end, from the end of the dirty range to the first of: a hole, the end of what is known, a
/// boundary out of reach.
fn boundaries(spans: &[Span], dirty: u64, reach: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut at = dirty;
    for span in spans.iter().filter(|span| span.end > dirty) {
        let touches = span.start <= at && span.end > at;
        if span.hole || !touches || at >= reach {
            break;
        }
        if span.start == at {
            found.push(at);
        }
        at = span.end;
    }
    found.push(at);
    found
}

#[cfg(test)]
mod tests;
