//! One entry: where its content lies, and what it is.

use std::io::Read;
use std::ops::Range;

use flate2::read::DeflateDecoder;

use super::bad;
use super::list::Entry;
use super::records::{CENTRAL_BYTES, Central, MAX_CENTRAL_BYTES, MAX_LOCAL_BYTES, read_central, read_local};
use super::source::{Source, read};
use crate::error::{Error, Result};
use crate::files::{File, Which};
use crate::ingest::{BUFFER_BYTES, Permit};
use crate::plan::ReadPlan;
use crate::ports::Platform;
use crate::tree::Address;

/// Deflated content is unpacked in memory: no more than this.
const MAX_UNPACKED_BYTES: u64 = BUFFER_BYTES as u64;

/// An entry whose content can be read.
#[derive(Debug)]
pub struct Opened {
    /// What the directory says of it.
    pub entry: Entry,
    /// A strong entity tag.
    pub etag: String,
    file: File,
    /// Where its packed content is in the file.
    content: Range<u64>,
}

/// Finds the entry whose record begins at `at` in the directory. Three round trips at most, two where the directory is short.
///
/// # Errors
/// [`Error::NotFound`] where the directory has no record there; [`Error::BadArchive`]; [`Error::EntryUnsupported`].
pub async fn open<P: Platform>(platform: &P, address: &Address, at: u64) -> Result<Opened> {
    let source = Source::open(platform, address, &Which::Current).await?;
    let directory = source.end.directory.clone();
    let from = directory.start.checked_add(at).filter(|from| *from < directory.end).ok_or(Error::NotFound)?;
    let central = async |most: usize| {
        let end = directory.end.min(from.saturating_add(most as u64));
        read_central(&source.bytes(from..end).await?).map_err(|_| Error::NotFound)
    };
    let record = match central(CENTRAL_BYTES + 1024).await? {
        None => central(MAX_CENTRAL_BYTES).await?,
        record => record,
    };
    let (central, _) = record.ok_or_else(|| bad("its directory is cut off"))?;
    let (file, content) = locate(platform, &source, &central).await?;
    let etag = format!("{}-{at}", source.etag);
    Ok(Opened { entry: Entry::new(central, at), etag, file, content })
}

/// Where an entry's packed content is, and the file with the pages of that. One round trip.
///
/// # Errors
/// [`Error::BadArchive`]; [`Error::EntryUnsupported`].
pub(super) async fn locate<P: Platform>(
    platform: &P,
    source: &Source<'_, P>,
    central: &Central,
) -> Result<(File, Range<u64>)> {
    let directory = &source.end.directory;
    if central.is_encrypted {
        return Err(unsupported("it is encrypted"));
    }
    if ![0, 8].contains(&central.method) {
        return Err(unsupported(format!(
            "it is packed by method {}, and only stored and deflated ones are read",
            central.method
        )));
    }
    let outside = || bad("an entry lies outside of the file's part for entries");
    let start = source.end.before.checked_add(central.offset).filter(|start| *start < directory.start);
    let start = start.ok_or_else(outside)?;
    let head = start..directory.start.min(start.saturating_add(MAX_LOCAL_BYTES as u64));
    let most = directory.start.min(head.end.saturating_add(central.packed_bytes));
    // The pages of both, in one round trip.
    let file = source.part(&(start..most)).await?;
    let short = head.end.min(start + (CENTRAL_BYTES + central.raw_name.len()) as u64);
    let local = read(platform, file.plan(start..short)?).await?;
    let content = start.saturating_add(read_local(&local, central)?);
    let end = content
        .checked_add(central.packed_bytes)
        .filter(|end| *end <= directory.start)
        .ok_or_else(outside)?;
    if central.method == 0 && central.size_bytes != central.packed_bytes {
        return Err(bad("an entry that isn't packed has two sizes"));
    }
    Ok((file, content..end))
}

impl Opened {
    /// Whether any part of the content can be had without reading the rest.
    pub fn is_stored(&self) -> bool {
        self.entry.method == 0
    }

    /// Plans a range of the content: where it lies, if it isn't packed, or unpacked by now and found to be whole.
    ///
    /// # Errors
    /// [`Error::EntryUnsupported`] where it is packed and of more than 8 MiB; [`Error::BadArchive`] where it isn't what the
    /// directory says.
    pub async fn plan<P: Platform>(&self, platform: &P, range: Range<u64>) -> Result<ReadPlan> {
        if self.is_stored() {
            let start = self.content.start;
            return self.file.plan(start + range.start..start + range.end);
        }
        if self.entry.size_bytes.max(self.entry.packed_bytes) > MAX_UNPACKED_BYTES {
            return Err(unsupported(format!(
                "it is packed, and of more than {MAX_UNPACKED_BYTES} bytes: what large it holds is read by unpacking all of it"
            )));
        }
        let _permit = Permit::take(platform.settings(), Some(2 * BUFFER_BYTES as u64))?;
        let packed = read(platform, self.file.plan(self.content.clone())?).await?;
        let content = inflate(&packed, self.entry.size_bytes, self.entry.crc32)?;
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        Ok(ReadPlan::inline(content.get(place(range.start)..place(range.end)).unwrap_or_default().to_vec()))
    }
}

/// Unpacks deflated content of this size and CRC-32, and never more.
///
/// # Errors
/// [`Error::BadArchive`].
pub fn inflate(packed: &[u8], size_bytes: u64, crc32: u32) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut decoder = DeflateDecoder::new(packed).take(size_bytes.saturating_add(1));
    decoder.read_to_end(&mut content).map_err(|_| bad("an entry's content is damaged"))?;
    if content.len() as u64 != size_bytes {
        return Err(bad("an entry's content doesn't have the size that its directory says"));
    }
    if crc32fast::hash(&content) != crc32 {
        return Err(bad("an entry's content doesn't have the CRC-32 that its directory says"));
    }
    Ok(content)
}

pub(super) fn unsupported(reason: impl Into<String>) -> Error {
    Error::EntryUnsupported { reason: reason.into() }
}
