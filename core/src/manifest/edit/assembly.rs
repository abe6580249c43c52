//! Puts a new list of pages together: what stays, what is new, what is merged.

use crate::error::{Error, Result};
use crate::manifest::{Extent, Extents, PAGE_EXTENTS, PageRef, combine_crc32, crc32_of};

/// The manifest of a new blob, before its new pages have ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    leaves: Vec<Leaf>,
    size_bytes: u64,
    crc32: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Leaf {
    length: u64,
    crc32: u32,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// A page that there is.
    Kept(u64),
    /// One to be written.
    New(Vec<Extent>),
}

impl Edit {
    /// The size of the new content.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The CRC-32 of the whole.
    pub fn crc32(&self) -> u32 {
        self.crc32
    }

    /// The list for the blob's row, with the extents of those pages that are to be written: they get the ids that
    /// `next_id` gives. All others exist.
    pub fn paginate(&self, mut next_id: impl FnMut() -> u64) -> Vec<(PageRef, Option<&[Extent]>)> {
        let mut start = 0;
        self.leaves
            .iter()
            .map(|leaf| {
                let (page, extents) = match &leaf.content {
                    Content::Kept(page) => (*page, None),
                    Content::New(extents) => (next_id(), Some(extents.as_slice())),
                };
                let place = PageRef { start, page, crc32: leaf.crc32 };
                start += leaf.length;
                (place, extents)
            })
            .collect()
    }
}

/// A page of an old list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) id: u64,
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) crc32: u32,
    /// None where it wasn't loaded.
    pub(super) extents: Option<&'a [Extent]>,
}

impl<'a> Page<'a> {
    pub(super) fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }

    pub(super) fn loaded(&self) -> Result<&'a [Extent]> {
        self.extents.ok_or_else(|| unloaded(self.id))
    }
}

/// A list that grows at its end. The caller has seen to it that sizes can be added up.
#[derive(Debug, Default)]
pub(super) struct Assembly<'a> {
    /// What is placed, with the extents of what is kept and loaded.
    leaves: Vec<(Leaf, Option<&'a [Extent]>)>,
    /// New extents behind it.
    run: Extents,
    /// Whether the next page gets another neighbour than it had.
    seam: bool,
}

impl<'a> Assembly<'a> {
    /// Adds new extents.
    pub(super) fn add(&mut self, extents: &[Extent]) {
        extents.iter().for_each(|extent| self.run.push(*extent));
    }

    /// What comes next wasn't the neighbour of what came before.
    pub(super) fn seam(&mut self) {
        self.seam = true;
    }

    /// Adds a page that follows the one before it, as it did.
    pub(super) fn keep_untouched(&mut self, page: Page<'a>) {
        let leaf = Leaf { length: page.length, crc32: page.crc32, content: Content::Kept(page.id) };
        self.leaves.push((leaf, page.extents));
    }

    /// Adds a page; behind a seam or new extents it is merged into the page before it, if both fit into one.
    pub(super) fn keep(&mut self, page: Page<'a>) -> Result<()> {
        let touched = std::mem::take(&mut self.seam) || !self.run.as_slice().is_empty();
        self.place_run()?;
        if !touched {
            self.keep_untouched(page);
            return Ok(());
        }
        match self.last_with_room()? {
            Some(room) if page.loaded()?.len() <= room => {
                self.reopen_last();
                self.add(page.loaded()?);
                self.place_pages()
            }
            _ => {
                self.keep_untouched(page);
                Ok(())
            }
        }
    }

    /// The new list.
    pub(super) fn finish(mut self) -> Result<Edit> {
        self.place_run()?;
        let leaves: Vec<Leaf> = self.leaves.into_iter().map(|(leaf, _)| leaf).collect();
        let (mut size_bytes, mut crc32) = (0, 0);
        for leaf in &leaves {
            size_bytes += leaf.length;
            crc32 = combine_crc32(crc32, leaf.crc32, leaf.length);
        }
        Ok(Edit { leaves, size_bytes, crc32 })
    }

    /// Places the new extents: in the page before them, if that has room for all, else in pages of their own.
    fn place_run(&mut self) -> Result<()> {
        let count = self.run.as_slice().len();
        if count > 0 && count < PAGE_EXTENTS && self.last_with_room()?.is_some_and(|room| count <= room) {
            let run = std::mem::take(&mut self.run);
            self.reopen_last();
            self.add(run.as_slice());
        }
        self.place_pages()
    }

    fn place_pages(&mut self) -> Result<()> {
        for extents in std::mem::take(&mut self.run).as_slice().chunks(PAGE_EXTENTS) {
            let length = super::check(extents)?;
            let leaf = Leaf { length, crc32: crc32_of(extents), content: Content::New(extents.to_vec()) };
            self.leaves.push((leaf, None));
        }
        Ok(())
    }

    /// How many more extents the last page can hold.
    fn last_with_room(&self) -> Result<Option<usize>> {
        let extents = match self.leaves.last() {
            None => return Ok(None),
            Some((Leaf { content: Content::New(extents), .. }, _)) => extents.as_slice(),
            Some((Leaf { content: Content::Kept(id), .. }, extents)) => {
                extents.ok_or_else(|| unloaded(*id))?
            }
        };
        Ok(PAGE_EXTENTS.checked_sub(extents.len()).filter(|room| *room > 0))
    }

    /// Makes the last page's extents new ones; none may wait.
    fn reopen_last(&mut self) {
        match self.leaves.pop() {
            Some((Leaf { content: Content::New(extents), .. }, _)) => self.add(&extents),
            Some((_, extents)) => self.add(extents.unwrap_or_default()),
            None => {}
        }
    }
}

fn unloaded(page: u64) -> Error {
    Error::Internal(format!("page {page} isn't loaded"))
}
