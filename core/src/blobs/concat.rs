//! Contents one after another: their pages are shared, what is in rows moves.

use super::paginate::paginate;
use super::{Base, Layout, NewBlob, TAIL_BYTES, etag, tail};
use crate::chunk::cuts;
use crate::error::Result;
use crate::ingest::Store;
use crate::manifest::combine_crc32;
use crate::manifest::edit::{self, Piece};
use crate::ports::Platform;

/// What stands in the new manifest.
enum Part<'a> {
    Pages(&'a Base),
    /// So many of the extents that were stored for it.
    Stored(usize),
}

/// Puts contents one after another. Of each, the first page and the last must be loaded. Bucket operations: one for
/// each run of bytes that are in rows, but for the last, if they fit a tail.
///
/// # Errors
/// [`Error::Invalid`](crate::error::Error::Invalid) where it would be larger than anything can be.
pub(crate) async fn concat<P: Platform>(store: &mut Store<'_, P>, bases: &[Base]) -> Result<NewBlob> {
    let mut parts = Vec::new();
    let mut bytes: Vec<u8> = Vec::new();
    let mut extents = Vec::new();
    for base in bases {
        if !base.pages.is_empty() {
            if let Some(count) = put(store, &mut bytes, &mut extents).await? {
                parts.push(Part::Stored(count));
            }
            parts.push(Part::Pages(base));
        }
        bytes.extend_from_slice(&base.tail);
        // A thousand small files are joined within bounded memory.
        if bytes.len() > 2 * crate::chunk::MAX_BYTES {
            parts.extend(put(store, &mut bytes, &mut extents).await?.map(Part::Stored));
        }
    }
    if bytes.len() > TAIL_BYTES {
        parts.extend(put(store, &mut bytes, &mut extents).await?.map(Part::Stored));
    }
    if parts.is_empty() {
        return Ok(tail::with_tail(store, &Base::empty(), bytes));
    }
    let mut rest = extents.as_slice();
    let pieces: Vec<Piece<'_>> = parts
        .iter()
        .map(|part| match part {
            Part::Pages(base) => Piece::Blob(base.manifest()),
            Part::Stored(count) => {
                let (now, later) = rest.split_at((*count).min(rest.len()));
                rest = later;
                Piece::Extents(now)
            }
        })
        .collect();
    let joined = edit::concat(&pieces)?;
    let (pages, new) = paginate(store, &joined).await?;
    let is_new = |page: u64| new.iter().any(|(id, _)| *id == page);
    let kept = pages.iter().map(|page| page.page).filter(|page| !is_new(*page)).collect();
    Ok(NewBlob {
        size_bytes: joined.size_bytes() + bytes.len() as u64,
        etag: etag::joined(bases.iter().map(|base| base.etag.as_str())),
        crc32: combine_crc32(joined.crc32(), crc32fast::hash(&bytes), bytes.len() as u64),
        layout: Layout::Paged { pages, tail: bytes },
        kept,
        ..NewBlob::of(store, new)
    })
}

/// Stores bytes, if there are any; returns how many extents they are.
async fn put<P: Platform>(
    store: &mut Store<'_, P>,
    bytes: &mut Vec<u8>,
    extents: &mut Vec<crate::manifest::Extent>,
) -> Result<Option<usize>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let chunks = cuts(bytes, true);
    store.put(bytes, &chunks).await?;
    bytes.clear();
    let stored = store.take();
    extents.extend_from_slice(stored.extents.as_slice());
    Ok(Some(stored.extents.as_slice().len()))
}
