//! Content that is made of bytes between extents which others have: an archive that is kept. Only the bytes are written.

use std::ops::Range;

use super::{Layout, NewBlob, TAIL_BYTES};
use crate::chunk::cuts;
use crate::error::{Error, Result};
use crate::ingest::{BUFFER_BYTES, INLINE_BYTES, Store};
use crate::manifest::{Extent, Extents, combine_crc32};
use crate::ports::Platform;

/// The most extents: one commit writes a row for each segment that a page of 256 of them names.
pub(crate) const MAX_EXTENTS: usize = 65_536;

/// Such content, as far as it goes.
pub(crate) struct Mosaic<'a, 'b, P> {
    store: &'a mut Store<'b, P>,
    /// Bytes that are still to be stored.
    buffer: Vec<u8>,
    /// What comes next, since the last were stored: so many bytes of the buffer, or an extent.
    waiting: Vec<Part>,
    extents: Extents,
    size_bytes: u64,
    crc32: u32,
}

enum Part {
    Bytes(usize),
    Of(Extent),
}

/// The same, where it is known which of the bytes stay together.
enum Cut {
    Bytes { length: u64, crc32: u32 },
    Of(Extent),
}

impl<'a, 'b, P: Platform> Mosaic<'a, 'b, P> {
    /// Nothing yet.
    pub(crate) fn new(store: &'a mut Store<'b, P>) -> Self {
        let (buffer, waiting, extents) = (Vec::new(), Vec::new(), Extents::default());
        Self { store, buffer, waiting, extents, size_bytes: 0, crc32: 0 }
    }

    /// Adds bytes.
    pub(crate) async fn bytes(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.grown(bytes.len() as u64, crc32fast::hash(bytes));
        while !bytes.is_empty() {
            let room = BUFFER_BYTES.saturating_sub(self.buffer.len());
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            match self.waiting.last_mut() {
                Some(Part::Bytes(count)) => *count += now.len(),
                _ => self.waiting.push(Part::Bytes(now.len())),
            }
            if self.buffer.len() >= BUFFER_BYTES {
                self.store_buffer().await?;
            }
            bytes = later;
        }
        Ok(())
    }

    /// Adds extents that others have.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`] past [`MAX_EXTENTS`].
    pub(crate) fn extents(&mut self, extents: &[Extent]) -> Result<()> {
        for extent in extents {
            self.grown(extent.length, extent.crc32);
            self.waiting.push(Part::Of(*extent));
        }
        if self.waiting.len().saturating_add(self.extents.as_slice().len()) > MAX_EXTENTS {
            let reason = format!("the file would have more than {MAX_EXTENTS} pieces: keep parts of it");
            return Err(Error::TooManyEntries { reason });
        }
        Ok(())
    }

    /// The content, with the entity tag that its maker gives it.
    pub(crate) async fn finish(mut self, etag: String) -> Result<NewBlob> {
        let in_row = self.size_bytes == self.buffer.len() as u64 && self.buffer.len() <= TAIL_BYTES;
        let (size_bytes, crc32) = (self.size_bytes, self.crc32);
        if in_row {
            let bytes = std::mem::take(&mut self.buffer);
            let layout = match bytes.len() {
                0..=INLINE_BYTES => Layout::Inline(bytes),
                _ => Layout::Paged { pages: Vec::new(), tail: bytes },
            };
            return Ok(NewBlob { size_bytes, etag, crc32, layout, ..NewBlob::of(self.store, Vec::new()) });
        }
        self.store_buffer().await?;
        let ingest = self.store.ingest().await?;
        let mut n = 0;
        let paged = self.extents.paginate(|| {
            n += 1;
            ingest.nth_id(n - 1)
        });
        let pages = paged.iter().map(|(page, _)| *page).collect();
        let new = paged.iter().map(|(page, extents)| (page.page, extents.to_vec())).collect();
        let layout = Layout::Paged { pages, tail: Vec::new() };
        Ok(NewBlob { size_bytes, etag, crc32, layout, ..NewBlob::of(self.store, new) })
    }

    fn grown(&mut self, length: u64, crc32: u32) {
        self.size_bytes = self.size_bytes.saturating_add(length);
        self.crc32 = combine_crc32(self.crc32, crc32, length);
    }

    /// Stores the buffer's bytes, and puts them in their places.
    async fn store_buffer(&mut self) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let chunks = cuts(&buffer, true);
        let cut = cut(std::mem::take(&mut self.waiting), &buffer, &chunks);
        if !buffer.is_empty() {
            self.store.put(&mut buffer, &chunks).await?;
        }
        let stored = self.store.take();
        let mut stored = stored.extents.as_slice().iter().copied();
        let mut rest: Option<Extent> = None;
        for part in cut {
            let (length, crc32) = match part {
                Cut::Of(extent) => {
                    self.extents.push(extent);
                    continue;
                }
                Cut::Bytes { length, crc32 } => (length, crc32),
            };
            // No cut lies in it, so one extent has all of it.
            let whole = rest.take().or_else(|| stored.next());
            let whole = whole.filter(|whole| whole.length >= length);
            let whole = whole.ok_or_else(|| Error::Internal("a chunk lies in two extents".to_owned()))?;
            self.extents.push(Extent { length, crc32, ..whole });
            let left = whole.length - length;
            rest = (left > 0).then_some(Extent { offset: whole.offset + length, length: left, ..whole });
        }
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }
}

/// Divides runs of bytes where chunks end: each is stored by itself, wherever the one before it is.
fn cut(parts: Vec<Part>, buffer: &[u8], chunks: &[Range<usize>]) -> Vec<Cut> {
    let mut cut = Vec::with_capacity(parts.len() + chunks.len());
    let mut at = 0;
    let mut chunks = chunks.iter().map(|chunk| chunk.end).peekable();
    for part in parts {
        let end = match part {
            Part::Of(extent) => {
                cut.push(Cut::Of(extent));
                continue;
            }
            Part::Bytes(count) => at + count,
        };
        while at < end {
            while chunks.next_if(|chunk| *chunk <= at).is_some() {}
            let stop = chunks.peek().map_or(end, |chunk| end.min(*chunk));
            let bytes = buffer.get(at..stop).unwrap_or_default();
            cut.push(Cut::Bytes { length: bytes.len() as u64, crc32: crc32fast::hash(bytes) });
            at = stop;
        }
    }
    cut
}
