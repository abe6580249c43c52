//! From pages to a read plan.

use std::collections::HashMap;
use std::ops::Range;

use super::{Extent, HOLE};
use crate::error::{Error, Result};
use crate::plan::{Place, ReadPlan, Slice};

/// A page as a read needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedPage {
    /// The position in the blob of its first byte.
    pub start: u64,
    /// Its extents.
    pub extents: Vec<Extent>,
    /// Where each segment is that they name.
    pub keys: HashMap<u64, Place>,
}

/// Plans the bytes `range` of a blob. `pages` are those that the range touches, in order.
///
/// # Errors
/// [`Error::Internal`] where the pages don't cover the range or a segment has no key: never a shorter answer.
pub fn slices(pages: &[KeyedPage], range: Range<u64>) -> Result<ReadPlan> {
    let mut plan = ReadPlan::default();
    let mut at = range.start;
    for page in pages {
        let mut start = page.start;
        for extent in &page.extents {
            let end = start + extent.length;
            if end > at && start < range.end {
                if start > at {
                    return Err(gap(at));
                }
                let (skip, stop) = (at - start, range.end.min(end) - start);
                plan.push(slice(page, extent, skip..stop)?);
                at = start + stop;
            }
            start = end;
        }
    }
    if at < range.end { Err(gap(at)) } else { Ok(plan) }
}

fn slice(page: &KeyedPage, extent: &Extent, within: Range<u64>) -> Result<Slice> {
    if extent.segment == HOLE {
        return Ok(Slice::Zeros(within.end - within.start));
    }
    let place = page
        .keys
        .get(&extent.segment)
        .ok_or_else(|| Error::Internal(format!("segment {} has no row", extent.segment)))?;
    Ok(Slice::Object {
        place: place.clone(),
        range: extent.offset + within.start..extent.offset + within.end,
    })
}

fn gap(at: u64) -> Error {
    Error::Internal(format!("no extent covers byte {at}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A blob over one "bucket" of bytes: segment s has key "s", offset o holds byte (s * 7 + o) mod 251.
    fn content(extents: &[Extent]) -> Vec<u8> {
        let byte = |segment: u64, offset: u64| {
            if segment == HOLE { 0 } else { ((segment * 7 + offset) % 251) as u8 }
        };
        extents
            .iter()
            .flat_map(|e| (e.offset..e.offset + e.length).map(move |o| byte(e.segment, o)))
            .collect()
    }

    fn read(plan: &ReadPlan) -> Vec<u8> {
        let of = |slice: &Slice| match slice {
            Slice::Inline(bytes) => bytes.clone(),
            Slice::Zeros(count) => vec![0; *count as usize],
            Slice::Object { place, range } => content(&[Extent {
                segment: place.key.parse().unwrap(),
                offset: range.start,
                length: range.end - range.start,
                crc32: 0,
            }]),
        };
        plan.slices().iter().flat_map(of).collect()
    }

    fn paged(extents: &[Extent], per_page: usize) -> Vec<KeyedPage> {
        let mut start = 0;
        extents
            .chunks(per_page)
            .map(|chunk| {
                let page = KeyedPage {
                    start,
                    extents: chunk.to_vec(),
                    keys: chunk.iter().map(|e| (e.segment, e.segment.to_string().into())).collect(),
                };
                start += chunk.iter().map(|e| e.length).sum::<u64>();
                page
            })
            .collect()
    }

    proptest! {
        #[test]
        fn a_plan_reads_the_range(
            extents in prop::collection::vec((0u64..4, 0u64..50, 1u64..30), 1..20),
            per_page in 1usize..5,
            (from, to) in (0usize..600, 0usize..600),
        ) {
            let extents: Vec<Extent> = extents.into_iter()
                .map(|(segment, offset, length)| Extent { segment, offset, length, crc32: 0 }).collect();
            let whole = content(&extents);
            let to = to.min(whole.len());
            let from = from.min(to);
            let plan = slices(&paged(&extents, per_page), from as u64..to as u64).unwrap();
            prop_assert_eq!(read(&plan), &whole[from..to]);
        }
    }

    #[test]
    fn what_the_pages_do_not_cover_is_an_error_and_not_a_short_answer() {
        let extents = [Extent { segment: 1, offset: 0, length: 10, crc32: 0 }];
        assert!(slices(&paged(&extents, 1), 5..11).is_err());
        assert!(slices(&[], 0..1).is_err());
        let mut late = paged(&extents, 1);
        late[0].start = 5;
        assert!(slices(&late, 0..7).is_err());
        late[0].keys.clear();
        assert!(slices(&late, 5..7).is_err());
        assert_eq!(slices(&[], 3..3), Ok(ReadPlan::default()));
    }
}
