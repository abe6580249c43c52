//! Content that grows as it arrives: what was stored just now goes behind its pages, as it was cut.

use super::paginate::paginate;
use super::{Base, Layout, NewBlob, etag};
use crate::error::{Error, Result};
use crate::ingest::Store;
use crate::manifest::edit::{self, Spliced};
use crate::manifest::{Parts, combine_crc32};
use crate::ports::Platform;

/// Puts what was stored last behind the pages of `base`, which has no tail, and whose last two pages are loaded. All
/// pages but the last are shared. What came in one piece has the entity tag of a body in one piece.
///
/// # Errors
/// [`Error::Invalid`] where it would be larger than anything can be.
pub(crate) async fn grow<P: Platform>(store: &mut Store<'_, P>, base: &Base) -> Result<NewBlob> {
    debug_assert!(base.tail.is_empty(), "what is in a row would be lost");
    let content = store.take();
    let end = base.size_bytes;
    let grown = match edit::splice(&base.manifest(), end..end, content.extents.as_slice(), &Parts::default())?
    {
        Spliced::Done(grown) => grown,
        Spliced::Needs(_) => {
            return Err(Error::Internal("an addition at the end splits nothing".to_owned()));
        }
    };
    debug_assert_eq!(grown.crc32(), combine_crc32(base.paged_crc32(), content.crc32, content.size_bytes));
    let etag = if end == 0 {
        content.etag()
    } else {
        etag::joined([base.etag.as_str(), &content.etag()].into_iter())
    };
    let (pages, new) = paginate(store, &grown).await?;
    Ok(NewBlob {
        size_bytes: grown.size_bytes(),
        etag,
        crc32: grown.crc32(),
        layout: Layout::Paged { pages, tail: Vec::new() },
        ..NewBlob::of(store, new)
    })
}
