//! Cuts pages in two, at any byte.

use crate::manifest::crc::second_crc32;
use crate::manifest::{Extent, HOLE, Missing, Parts};

/// Cuts, and notes what it would have to know.
pub(super) struct Cutter<'a> {
    parts: &'a Parts,
    missing: Vec<Missing>,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(parts: &'a Parts) -> Self {
        Self { parts, missing: Vec::new() }
    }

    /// The first `length` bytes of a page.
    pub(super) fn start(&mut self, page: &[Extent], length: u64) -> Vec<Extent> {
        let (index, before) = position(page, length);
        let mut start = page.get(..index).unwrap_or_default().to_vec();
        if let Some(extent) = page.get(index).filter(|_| before > 0) {
            start.push(Extent { length: before, crc32: self.crc32_of_start(extent, before), ..*extent });
        }
        start
    }

    /// What a page holds behind its first `length` bytes.
    pub(super) fn end(&mut self, page: &[Extent], length: u64) -> Vec<Extent> {
        let (index, before) = position(page, length);
        let mut end = page.get(index..).unwrap_or_default().to_vec();
        if let Some(extent) = end.first_mut().filter(|_| before > 0) {
            let start = self.crc32_of_start(extent, before);
            extent.length -= before;
            extent.crc32 = second_crc32(extent.crc32, start, extent.length);
            if extent.segment != HOLE {
                extent.offset += before;
            }
        }
        end
    }

    /// What was missing. Unless it is nothing, the pieces' CRC-32s are not to be used.
    pub(super) fn missing(self) -> Vec<Missing> {
        match self.missing.as_slice() {
            [one, other] => Missing::distinct(*one, *other),
            _ => self.missing,
        }
    }

    fn crc32_of_start(&mut self, extent: &Extent, length: u64) -> u32 {
        self.parts.crc32_of_start(extent, length).unwrap_or_else(|missing| {
            self.missing.push(missing);
            0
        })
    }
}

/// The index of the extent that holds the byte at `length`, and how many of its bytes come before that.
fn position(page: &[Extent], length: u64) -> (usize, u64) {
    let mut before = length;
    for (index, extent) in page.iter().enumerate() {
        match before.checked_sub(extent.length) {
            Some(rest) => before = rest,
            None => return (index, before),
        }
    }
    (page.len(), 0)
}
