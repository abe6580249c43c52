//! The entries of a ZIP file, page by page.

use super::bad;
use super::records::{Central, MAX_CENTRAL_BYTES, read_central};
use super::source::Source;
use crate::error::Result;
use crate::files::Which;
use crate::ids::VersionId;
use crate::ports::{Platform, Timestamp};
use crate::tree::Address;

/// A page is made of so many bytes of the directory at most, and of one record at least.
const PAGE_BYTES: u64 = 512 * 1024;
const _: () = assert!(PAGE_BYTES as usize > MAX_CENTRAL_BYTES);

/// Where a page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The file's version that the pages before were of.
    pub version: VersionId,
    /// How many bytes of the directory come before.
    pub at: u64,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where its record begins in the directory: what names it in this file.
    pub at: u64,
    /// Its path, as the file has it.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The size of its content.
    pub size_bytes: u64,
    /// The same as it is packed.
    pub packed_bytes: u64,
    /// How it is packed: 0 not at all, 8 deflated, others.
    pub method: u16,
    /// The CRC-32 of its content.
    pub crc32: u32,
    /// Whether a password is needed.
    pub is_encrypted: bool,
    /// When it was changed last.
    pub modified_at: Option<Timestamp>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The file's entity tag, without quotes.
    pub etag: String,
    /// How many entries the file says that it has.
    pub total: u64,
    /// The entries.
    pub entries: Vec<Entry>,
    /// Where the next page begins.
    pub next: Option<Position>,
}

impl Entry {
    /// What the directory says at `at`.
    pub(super) fn new(central: Central, at: u64) -> Self {
        Self {
            at,
            is_folder: central.name.ends_with('/'),
            name: central.name,
            size_bytes: central.size_bytes,
            packed_bytes: central.packed_bytes,
            method: central.method,
            crc32: central.crc32,
            is_encrypted: central.is_encrypted,
            modified_at: central.modified_secs.map(|secs| Timestamp(secs.saturating_mul(1000))),
        }
    }
}

/// A page of the entries, in the file's own order: `limit` at most, and fewer where their names are long. Two round trips, one
/// where the directory is short. Reads from the bucket at most 66 KB for the end of the file and 512 KiB for the page.
///
/// # Errors
/// [`Error::BadArchive`](crate::error::Error::BadArchive); [`Error::NotFound`](crate::error::Error::NotFound), too where the
/// version that the pages before were of has gone.
pub async fn list<P: Platform>(
    platform: &P,
    address: &Address,
    from: Option<&Position>,
    limit: usize,
) -> Result<Page> {
    let which = from.map_or(Which::Current, |from| Which::Version(from.version.clone()));
    let source = Source::open(platform, address, &which).await?;
    let directory = source.end.directory.clone();
    let from = directory.start.saturating_add(from.map_or(0, |from| from.at)).min(directory.end);
    let bytes = source.bytes(from..directory.end.min(from.saturating_add(PAGE_BYTES))).await?;
    let (mut entries, mut rest) = (Vec::new(), bytes.as_slice());
    while entries.len() < limit && !rest.is_empty() {
        let at = from - directory.start + (bytes.len() - rest.len()) as u64;
        let Some((central, length)) = read_central(rest)? else { break };
        entries.push(Entry::new(central, at));
        rest = rest.get(length..).unwrap_or_default();
    }
    let read = from + (bytes.len() - rest.len()) as u64;
    if entries.is_empty() && read < directory.end {
        return Err(bad("its directory is cut off"));
    }
    let next = (read < directory.end)
        .then(|| Position { version: source.version.clone(), at: read - directory.start });
    Ok(Page { etag: source.etag, total: source.end.entries, entries, next })
}
