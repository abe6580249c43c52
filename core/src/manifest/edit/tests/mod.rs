//! Edits against plain byte vectors. Pages are immutable rows here as there: whatever is loaded was committed before.

mod holes;
mod model;
mod pages;
mod refusals;
mod store;

use std::collections::HashMap;
use std::ops::Range;

use super::*;
use crate::manifest::{HOLE, KeyedPage, PAGE_EXTENTS, combine_crc32, slices};
use crate::plan::Slice;

/// A blob's row, without what edits don't touch.
#[derive(Debug, Clone, Default)]
struct Blob {
    pages: Vec<PageRef>,
    size_bytes: u64,
    crc32: u32,
}

/// The rows of pages.
#[derive(Debug, Default)]
struct Rows {
    pages: HashMap<u64, Vec<Extent>>,
    /// How many the last edit wrote.
    written: usize,
}

impl Rows {
    /// What the edit of a blob may see: nothing but these pages.
    fn load(&self, pages: &[PageRef]) -> HashMap<u64, Vec<Extent>> {
        pages.iter().map(|page| (page.page, self.pages[&page.page].clone())).collect()
    }

    fn commit(&mut self, edit: &Edit) -> Blob {
        let mut id = 1_000 + self.pages.len() as u64;
        let paged = edit.paginate(|| {
            id += 1;
            id
        });
        self.written = 0;
        for (page, extents) in &paged {
            if let Some(extents) = extents {
                assert!(self.pages.insert(page.page, extents.to_vec()).is_none(), "pages are immutable");
                self.written += 1;
            }
        }
        let pages = paged.iter().map(|(page, _)| *page).collect();
        Blob { pages, size_bytes: edit.size_bytes(), crc32: edit.crc32() }
    }

    /// Splices with what `pages_to_splice` names, answering what is missing once.
    fn splice(
        &mut self,
        old: &Blob,
        range: Range<u64>,
        new: &[Extent],
        parts: &mut Parts,
        mut answer: impl FnMut(Missing) -> u32,
    ) -> Blob {
        let loaded = self.load(&pages_to_splice(&old.pages, old.size_bytes, &range));
        let manifest = old.manifest(&loaded);
        let edit = match splice(&manifest, range.clone(), new, parts).unwrap() {
            Spliced::Done(edit) => edit,
            Spliced::Needs(missing) => {
                assert!((1..=2).contains(&missing.len()));
                for part in missing {
                    let Missing { segment, offset, length } = part;
                    parts.add(Extent { segment, offset, length, crc32: answer(part) });
                }
                match splice(&manifest, range, new, parts).unwrap() {
                    Spliced::Done(edit) => edit,
                    Spliced::Needs(missing) => panic!("still missing: {missing:?}"),
                }
            }
        };
        self.commit(&edit)
    }

    /// Checks what holds of every blob. `crc32` tells that of a range of the model's bytes.
    fn check(&self, blob: &Blob, crc32: impl Fn(Range<u64>) -> u32) {
        let counts: Vec<usize> = blob.pages.iter().map(|page| self.pages[&page.page].len()).collect();
        assert!(counts.iter().all(|count| (1..=PAGE_EXTENTS).contains(count)), "{counts:?}");
        assert!(counts.windows(2).all(|pair| pair[0] + pair[1] > PAGE_EXTENTS), "{counts:?}");
        assert!(counts.len() <= 2 * counts.iter().sum::<usize>() / (PAGE_EXTENTS + 1) + 1);
        let extents = || blob.pages.iter().flat_map(|page| &self.pages[&page.page]);
        assert!(extents().all(|extent| extent.segment != HOLE || extent.offset == 0), "holes lie nowhere");
        let mut at = 0;
        for page in &blob.pages {
            let end = at + self.pages[&page.page].iter().map(|extent| extent.length).sum::<u64>();
            assert_eq!((page.start, page.crc32), (at, crc32(at..end)));
            at = end;
        }
        assert_eq!((blob.size_bytes, blob.crc32), (at, crc32(0..at)));
    }

    /// Reads as a request does: through a plan over the pages that the range touches.
    fn read(&self, blob: &Blob, range: Range<u64>, bytes: impl Fn(u64, Range<u64>) -> Vec<u8>) -> Vec<u8> {
        let pages: Vec<KeyedPage> = blob
            .pages
            .iter()
            .map(|page| {
                let extents = self.pages[&page.page].clone();
                let keys = extents
                    .iter()
                    .map(|extent| (extent.segment, extent.segment.to_string().into()))
                    .collect();
                KeyedPage { start: page.start, extents, keys }
            })
            .collect();
        let of = |slice: &Slice| match slice {
            Slice::Inline(bytes) => bytes.clone(),
            Slice::Zeros(count) => vec![0; *count as usize],
            Slice::Object { place, range } => bytes(place.key.parse().unwrap(), range.clone()),
        };
        slices(&pages, range).unwrap().slices().iter().flat_map(of).collect()
    }
}

impl Blob {
    fn manifest<'a>(&'a self, loaded: &'a HashMap<u64, Vec<Extent>>) -> Manifest<'a> {
        Manifest { pages: &self.pages, size_bytes: self.size_bytes, loaded }
    }
}

fn hole(length: u64) -> Extent {
    Extent { segment: HOLE, offset: 0, length, crc32: crate::manifest::crc::crc32_of_zeros(length) }
}
