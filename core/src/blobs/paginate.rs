//! The list of pages of content that an edit has made.

use crate::error::{Error, Result};
use crate::ingest::Store;
use crate::manifest::edit::Edit;
use crate::manifest::{Extent, PageRef};
use crate::ports::Platform;

/// So many pages fit a row of 2 MB. With the smallest runs that uploads store, of 64 KiB, that is half a tebibyte.
const MAX_PAGES: usize = 40_000;

/// The list of an edited manifest, and its new pages with ids from the ingest, which is opened if there are any.
///
/// # Errors
/// [`Error::Invalid`] where the list would be too long for a row.
pub(super) async fn paginate<P: Platform>(
    store: &mut Store<'_, P>,
    edited: &Edit,
) -> Result<(Vec<PageRef>, Vec<(u64, Vec<Extent>)>)> {
    // Numbered from 0 until it is known whether there are new ones at all.
    let mut count = 0;
    let paged = edited.paginate(|| {
        count += 1;
        count - 1
    });
    if paged.len() > MAX_PAGES {
        return Err(Error::invalid(
            "content",
            "its parts are too many and too small: store it in larger ones",
        ));
    }
    let first = if count > 0 { store.ingest().await?.nth_id(0) } else { 0 };
    let (mut pages, mut new) = (Vec::with_capacity(paged.len()), Vec::new());
    for (mut page, extents) in paged {
        if let Some(extents) = extents {
            page.page += first;
            new.push((page.page, extents.to_vec()));
        }
        pages.push(page);
    }
    Ok((pages, new))
}
