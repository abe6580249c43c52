//! Edits of manifests: a new blob that shares the pages of older ones.
//!
//! [`splice`] replaces a range of a blob by other extents: patch, append, truncate, extend by a hole. [`concat()`] puts
//! blobs and extents one after another. Both need the extents of only those pages that [`pages_to_splice`] and
//! [`pages_to_concat`] name, and make an [`Edit`]: the new list, in which all other pages stand as they are.
//!
//! Neighbouring pages of a blob hold more than 256 extents together: fresh blobs have full pages but for the last, an
//! edit divides what it touches likewise, and merges its pages with the neighbours that they fit into. So a list has
//! at most `2 n / 257 + 1` pages for `n` extents, whatever edits made it. A splice by `k` extents writes at most
//! `2 + k / 256` pages, rounded up; one at the end of a blob, `1 + k / 256`.

mod assembly;
mod cut;
mod reach;

pub use assembly::Edit;
pub use reach::{pages_to_concat, pages_to_splice, spans};

use std::collections::HashMap;
use std::ops::Range;

use super::{Extent, Missing, PageRef, Parts};
use crate::error::{Error, Result};
use assembly::{Assembly, Page};
use cut::Cutter;

/// The largest content: what every database and every JSON reader takes for a whole number.
pub const MAX_CONTENT_BYTES: u64 = (1 << 53) - 1;

/// A blob, as far as an edit has to know it.
#[derive(Debug, Clone, Copy)]
pub struct Manifest<'a> {
    /// Its list of pages; none if it is empty. Inline content has to be stored first.
    pub pages: &'a [PageRef],
    /// Its size.
    pub size_bytes: u64,
    /// Extents by page id: of the pages that the edit needs at least, of other blobs too if that is convenient.
    pub loaded: &'a HashMap<u64, Vec<Extent>>,
}

/// What came of a splice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spliced {
    /// The new blob.
    Done(Edit),
    /// An extent is to be split and the [`Parts`] don't tell the CRC-32 of its pieces. These ranges, at most two and
    /// none longer than half of the extent, tell enough.
    Needs(Vec<Missing>),
}

/// What a concatenation consists of.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// A blob.
    Blob(Manifest<'a>),
    /// Extents that are in no page yet: what was inline and has been stored.
    Extents(&'a [Extent]),
}

/// Replaces the bytes `range` of a blob by `new` extents. An empty range inserts, or appends at the end; no extents
/// delete, or truncate. `parts` is asked where the range begins or ends within an extent; holes are split without.
///
/// # Errors
/// [`Error::Invalid`] where the new content would exceed [`MAX_CONTENT_BYTES`]; [`Error::Internal`] where the range
/// doesn't lie in the blob, a page that is needed isn't loaded, or the rows contradict each other.
pub fn splice(old: &Manifest<'_>, range: Range<u64>, new: &[Extent], parts: &Parts) -> Result<Spliced> {
    if range.start > range.end || range.end > old.size_bytes {
        let (size, Range { start, end }) = (old.size_bytes, range);
        return Err(Error::Internal(format!("bytes {start} to {end} of {size} can't be replaced")));
    }
    let pages = old.placed()?;
    fits([old.size_bytes - (range.end - range.start), check(new)?])?;
    let mut assembly = Assembly::default();
    if range.is_empty() && new.is_empty() {
        pages.into_iter().for_each(|page| assembly.keep_untouched(page));
        return assembly.finish().map(Spliced::Done);
    }
    let mut cutter = Cutter::new(parts);
    for page in pages.iter().filter(|page| page.start < range.start) {
        if page.end() <= range.start {
            assembly.keep_untouched(*page);
        } else {
            assembly.add(&cutter.start(page.loaded()?, range.start - page.start));
        }
    }
    assembly.add(new);
    assembly.seam();
    for page in pages.iter().filter(|page| page.end() > range.end) {
        if page.start >= range.end {
            assembly.keep(*page)?;
        } else {
            assembly.add(&cutter.end(page.loaded()?, range.end - page.start));
        }
    }
    let missing = cutter.missing();
    if missing.is_empty() { assembly.finish().map(Spliced::Done) } else { Ok(Spliced::Needs(missing)) }
}

/// Puts blobs and extents one after another.
///
/// # Errors
/// As [`splice`].
pub fn concat(pieces: &[Piece<'_>]) -> Result<Edit> {
    let size = |piece: &Piece<'_>| match piece {
        Piece::Blob(blob) => Ok(blob.size_bytes),
        Piece::Extents(extents) => check(extents),
    };
    fits(pieces.iter().map(size).collect::<Result<Vec<_>>>()?)?;
    let mut assembly = Assembly::default();
    for piece in pieces {
        assembly.seam();
        match piece {
            Piece::Blob(blob) => blob.placed()?.into_iter().try_for_each(|page| assembly.keep(page))?,
            Piece::Extents(extents) => assembly.add(extents),
        }
    }
    assembly.finish()
}

/// Whether sizes can be reckoned with; returns their sum.
fn check(extents: &[Extent]) -> Result<u64> {
    let mut size = 0u64;
    for extent in extents {
        let end = extent.offset.saturating_add(extent.length);
        size = size.saturating_add(extent.length);
        if extent.length == 0 || end.max(size) > MAX_CONTENT_BYTES {
            return Err(Error::Internal(format!("an extent of {} bytes", extent.length)));
        }
    }
    Ok(size)
}

/// Refuses what is too large before anything is added up.
fn fits(sizes: impl IntoIterator<Item = u64>) -> Result<()> {
    match sizes.into_iter().fold(0, u64::saturating_add) {
        0..=MAX_CONTENT_BYTES => Ok(()),
        size => Err(Error::invalid("content", format!("{size} bytes are more than {MAX_CONTENT_BYTES}"))),
    }
}

impl<'a> Manifest<'a> {
    /// The pages with their lengths, checked.
    fn placed(&self) -> Result<Vec<Page<'a>>> {
        let ends = self.pages.iter().skip(1).map(|next| next.start).chain([self.size_bytes]);
        let mut placed = Vec::with_capacity(self.pages.len());
        let mut at = 0;
        for (page, end) in self.pages.iter().zip(ends) {
            let extents = self.loaded.get(&page.page).map(Vec::as_slice);
            let length = end.checked_sub(page.start).filter(|length| *length > 0);
            let length = length.ok_or_else(|| malformed(page.page))?;
            if page.start != at || extents.map(check).transpose()?.is_some_and(|size| size != length) {
                return Err(malformed(page.page));
            }
            placed.push(Page { id: page.page, start: at, length, crc32: page.crc32, extents });
            at = end;
        }
        if at == self.size_bytes { Ok(placed) } else { Err(malformed(0)) }
    }
}

fn malformed(page: u64) -> Error {
    Error::Internal(format!("page {page} doesn't have the length that its place in the list gives it"))
}

#[cfg(test)]
mod tests;
