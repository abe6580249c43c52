//! Manifests: a file is a list of extents, in pages.
//!
//! A blob's row lists its pages as `[[start, page, crc32], …]`; a page is an immutable row of at most
//! [`PAGE_EXTENTS`] extents, `[[segment, offset, length, crc32], …]`. Both are JSON text, of numbers only, so that
//! SQL can look inside. docs/STORAGE.md fixes the formats. [`edit`] makes new lists from old ones.

mod crc;
pub mod edit;
mod parts;
mod slices;

pub use crc::{combine_crc32, crc32_of_zeros};
pub use parts::{Missing, Parts};
pub use slices::{KeyedPage, slices};

use crate::error::{Error, Result};

/// The most extents a page holds. A page of segments of 8 MiB then spans 2 GiB and has about 10 kB of JSON.
pub const PAGE_EXTENTS: usize = 256;

/// The segment id that stands for zeros that are stored nowhere.
pub const HOLE: u64 = 0;

/// A range of a segment: `[segment, offset, length, crc32]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "(u64, u64, u64, u32)", into = "(u64, u64, u64, u32)")]
pub struct Extent {
    /// The segment's id; [`HOLE`] for zeros.
    pub segment: u64,
    /// Where in the segment it begins.
    pub offset: u64,
    /// How long it is; never 0.
    pub length: u64,
    /// The CRC-32 of its bytes.
    pub crc32: u32,
}

impl From<(u64, u64, u64, u32)> for Extent {
    fn from((segment, offset, length, crc32): (u64, u64, u64, u32)) -> Self {
        Self { segment, offset, length, crc32 }
    }
}

impl From<Extent> for (u64, u64, u64, u32) {
    fn from(extent: Extent) -> Self {
        (extent.segment, extent.offset, extent.length, extent.crc32)
    }
}

/// Where a page stands in a blob: `[start, page, crc32]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "(u64, u64, u32)", into = "(u64, u64, u32)")]
pub struct PageRef {
    /// The position in the blob of the page's first byte.
    pub start: u64,
    /// The page's id.
    pub page: u64,
    /// The CRC-32 of all its bytes.
    pub crc32: u32,
}

impl From<(u64, u64, u32)> for PageRef {
    fn from((start, page, crc32): (u64, u64, u32)) -> Self {
        Self { start, page, crc32 }
    }
}

impl From<PageRef> for (u64, u64, u32) {
    fn from(page: PageRef) -> Self {
        (page.start, page.page, page.crc32)
    }
}

/// An ordered list of extents that grows at its end.
#[derive(Debug, Default)]
pub struct Extents(Vec<Extent>);

impl Extents {
    /// Adds an extent; one that continues the extent before it in the same segment is merged into it.
    pub fn push(&mut self, next: Extent) {
        match self.0.last_mut() {
            Some(last)
                if last.segment == next.segment
                    && (next.segment == HOLE || last.offset + last.length == next.offset) =>
            {
                last.crc32 = combine_crc32(last.crc32, next.crc32, next.length);
                last.length += next.length;
            }
            _ => self.0.push(next),
        }
    }

    /// The extents.
    pub fn as_slice(&self) -> &[Extent] {
        &self.0
    }

    /// Divides the extents into pages with the ids that `next_id` gives: what a blob's row lists, and each page's
    /// extents.
    pub fn paginate(&self, mut next_id: impl FnMut() -> u64) -> Vec<(PageRef, &[Extent])> {
        let mut start = 0;
        self.0
            .chunks(PAGE_EXTENTS)
            .map(|extents| {
                let page = PageRef { start, page: next_id(), crc32: crc32_of(extents) };
                start += extents.iter().map(|extent| extent.length).sum::<u64>();
                (page, extents)
            })
            .collect()
    }
}

fn crc32_of(extents: &[Extent]) -> u32 {
    extents.iter().fold(0, |crc, extent| combine_crc32(crc, extent.crc32, extent.length))
}

/// Reads what a row holds; a malformed one is a fault of ours.
pub fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::Internal(format!("malformed manifest: {error}")))
}

/// Writes what a row holds. Only for lists of numbers and texts, which can always be written.
pub fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Internal(format!("unwritable manifest: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_formats_are_fixed() {
        let extent = Extent { segment: 1_048_577, offset: 0, length: 9, crc32: 3_421_780_262 };
        assert_eq!(to_json(&vec![extent]).unwrap(), "[[1048577,0,9,3421780262]]");
        assert_eq!(from_json::<Vec<Extent>>("[[1048577,0,9,3421780262]]").unwrap(), [extent]);
        let page = PageRef { start: 0, page: 1_048_576, crc32: 7 };
        assert_eq!(to_json(&vec![page]).unwrap(), "[[0,1048576,7]]");
        assert!(from_json::<Vec<Extent>>("[[1,2]]").is_err());
    }

    #[test]
    fn pages_split_at_256_extents() {
        for (count, pages) in [(0, 0), (1, 1), (256, 1), (257, 2), (512, 2), (513, 3)] {
            let mut extents = Extents::default();
            for segment in 1..=count {
                extents.push(Extent { segment, offset: 0, length: 10, crc32: 1 });
            }
            let mut id = 100;
            let paged = extents.paginate(|| {
                id += 1;
                id
            });
            assert_eq!(paged.len(), pages, "{count} extents");
            if let Some((last, _)) = paged.last() {
                assert_eq!((last.start, last.page), (2560 * (pages as u64 - 1), 100 + pages as u64));
            }
        }
    }

    proptest! {
        #[test]
        fn merged_extents_keep_the_crc(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 1..20)) {
            let whole = pieces.concat();
            let mut extents = Extents::default();
            let mut offset = 0;
            for piece in &pieces {
                let length = piece.len() as u64;
                extents.push(Extent { segment: 5, offset, length, crc32: crc32fast::hash(piece) });
                offset += length;
            }
            prop_assert_eq!(extents.as_slice(), &[Extent {
                segment: 5, offset: 0, length: whole.len() as u64, crc32: crc32fast::hash(&whole),
            }]);
        }
    }
}
