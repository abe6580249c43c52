//! Which pages an edit needs, and what an edit's re-chunking has to know of them.

use std::ops::Range;

use super::{Manifest, PageRef, Parts};
use crate::chunk::{LOOKAHEAD_BYTES, Span};
use crate::error::Result;
use crate::manifest::HOLE;

/// The pages whose extents are needed to splice a blob of `size_bytes` around `range`, and to re-chunk around it
/// before: six at most, however long the range is.
pub fn pages_to_splice(pages: &[PageRef], size_bytes: u64, range: &Range<u64>) -> Vec<PageRef> {
    let (left, right) = reach(pages, size_bytes, range);
    // What changes is merged with a neighbour that has room.
    let left = left.start.saturating_sub(1)..left.end;
    let right = right.start..pages.len().min(right.end.saturating_add(1));
    pick(pages, left, right).copied().collect()
}

/// The pages of a blob whose extents are needed to concatenate it with others: the first and the last.
pub fn pages_to_concat(pages: &[PageRef]) -> Vec<PageRef> {
    let last = pages.len().saturating_sub(1);
    pick(pages, 0..1, last..pages.len()).copied().collect()
}

/// What [`Rechunk`](crate::chunk::Rechunk) needs to know of a blob around `range`, if `chunks` holds rows of the chunk
/// index alone. The edit that it leads to needs no other pages than [`pages_to_splice`] names for `range`.
///
/// Where nothing is known of an extent's chunks, the extent is one span.
pub fn spans(old: &Manifest<'_>, range: &Range<u64>, chunks: &Parts) -> Result<Vec<Span>> {
    let (left, right) = reach(old.pages, old.size_bytes, range);
    let placed = old.placed()?;
    let mut spans = Vec::new();
    for page in pick(&placed, left, right) {
        let mut start = page.start;
        for extent in page.loaded()? {
            let (from, hole) = (start, extent.segment == HOLE);
            let joints = chunks.joints(extent).into_iter().filter(|_| !hole).chain([extent.length]);
            for joint in joints {
                let end = from.saturating_add(joint);
                spans.push(Span { start, end, hole });
                start = end;
            }
        }
    }
    Ok(spans)
}

/// Indices of the pages in which a re-chunked edit may begin, and of those in which it may end.
fn reach(pages: &[PageRef], size_bytes: u64, range: &Range<u64>) -> (Range<usize>, Range<usize>) {
    let holding = |position: u64| pages.partition_point(|page| page.start <= position).saturating_sub(1);
    let before = pages.partition_point(|page| page.start < range.start);
    let left = holding(range.start.saturating_sub(LOOKAHEAD_BYTES)).min(before)..before;
    if range.end >= size_bytes {
        return (left, pages.len()..pages.len());
    }
    let first = holding(range.end);
    // And the next, so that cuts can land beyond the end of a page.
    (left, first..pages.len().min(first.saturating_add(2)))
}

/// The elements at either range, each once.
fn pick<T>(pages: &[T], left: Range<usize>, right: Range<usize>) -> impl Iterator<Item = &T> {
    let right = right.start.max(left.end)..right.end;
    let part = |range| pages.get(range).unwrap_or_default();
    part(left).iter().chain(part(right))
}
