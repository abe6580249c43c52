//! An entry's content as a file's. What isn't packed stays where it is: the new file refers to the ZIP file's own segments, and
//! only what an extent is cut at is read, for its CRC-32. What is deflated is unpacked while it is read, and written.

use std::ops::Range;

use flate2::{Decompress, FlushDecompress, Status};

use super::bad;
use super::entry::unsupported;
use super::records::Central;
use super::source::read;
use crate::blobs::{Mosaic, NewBlob};
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::files::File;
use crate::ingest::{INLINE_BYTES, Store};
use crate::jobs::{Claimed, Progress};
use crate::manifest::{Extent, HOLE, combine_crc32, crc32_of_zeros};
use crate::ports::Platform;

/// What is deflated is unpacked within one invocation, since nobody can begin in the middle: on Workers 30 seconds of CPU,
/// some 5 of which this takes.
const MAX_BYTES: u64 = 256 << 20;

/// So much is read at once, and unpacked at once.
const READ_BYTES: u64 = 1 << 20;
const UNPACKED_BYTES: usize = 256 * 1024;

/// The parts of two extents that are read for their CRC-32 at most: a segment is of 8 MiB, what was imported of any size.
const MAX_CUT_BYTES: u64 = 16 << 20;

/// An entry, and where it lies.
pub(super) struct Packed<'a> {
    pub(super) central: &'a Central,
    pub(super) file: &'a File,
    pub(super) range: Range<u64>,
    /// The ZIP file's entity tag.
    pub(super) etag: &'a str,
}

/// Makes its content. None where the job was cancelled, or taken over, meanwhile.
///
/// # Errors
/// [`Error::BadArchive`] where it isn't what the directory says; [`Error::EntryUnsupported`].
pub(super) async fn content<P: Platform>(
    store: &mut Store<'_, P>,
    packed: &Packed<'_>,
    (job, progress): (&Claimed, Progress),
) -> Result<Option<NewBlob>> {
    let (central, range) = (packed.central, &packed.range);
    // The same of the same file is the same content.
    let tag = format!("unpacked {} {} {} {}", packed.etag, range.start, range.end, central.method);
    let etag = Sha256::of(tag.as_bytes()).to_string();
    let has_checksums = packed.file.version.blob.crc32.is_some();
    let stays = central.method == 0 && has_checksums && central.size_bytes > INLINE_BYTES as u64;
    let platform = store.platform();
    let mut mosaic = Mosaic::new(store);
    if stays {
        shared(platform, packed, &mut mosaic).await?;
    } else {
        if central.size_bytes.max(central.packed_bytes) > MAX_BYTES {
            return Err(unsupported(format!(
                "it has more than {MAX_BYTES} bytes, which is more than is unpacked at once"
            )));
        }
        if !unpack(platform, packed, &mut mosaic, (job, progress)).await? {
            return Ok(None);
        }
    }
    mosaic.finish(etag).await.map(Some)
}

/// Adds the extents that it lies in.
async fn shared<P: Platform>(
    platform: &P,
    packed: &Packed<'_>,
    mosaic: &mut Mosaic<'_, '_, P>,
) -> Result<()> {
    let range = &packed.range;
    let (mut extents, mut crc32) = (Vec::new(), 0);
    for page in packed.file.pages() {
        let mut start = page.start;
        for extent in &page.extents {
            let (from, to) = (start.max(range.start), (start + extent.length).min(range.end));
            if from < to {
                let length = to - from;
                let cut = match extent.segment {
                    _ if length == extent.length => extent.crc32,
                    HOLE => crc32_of_zeros(length),
                    _ if length > MAX_CUT_BYTES => {
                        return Err(unsupported(
                            "it begins within a part of the file that is too large to be read",
                        ));
                    }
                    _ => crc32fast::hash(&read(platform, packed.file.plan(from..to)?).await?),
                };
                let offset = if extent.segment == HOLE { 0 } else { extent.offset + (from - start) };
                extents.push(Extent { segment: extent.segment, offset, length, crc32: cut });
                crc32 = combine_crc32(crc32, cut, length);
            }
            start += extent.length;
        }
    }
    mosaic.extents(&extents)?;
    let in_pages: u64 = extents.iter().map(|extent| extent.length).sum();
    let rest = read(platform, packed.file.plan(range.start + in_pages..range.end)?).await?;
    mosaic.bytes(&rest).await?;
    let crc32 = combine_crc32(crc32, crc32fast::hash(&rest), rest.len() as u64);
    if crc32 == packed.central.crc32 { Ok(()) } else { Err(other_crc32()) }
}

/// Adds the bytes that it is when it is unpacked. False where the job should end.
async fn unpack<P: Platform>(
    platform: &P,
    packed: &Packed<'_>,
    mosaic: &mut Mosaic<'_, '_, P>,
    (job, progress): (&Claimed, Progress),
) -> Result<bool> {
    let Packed { central, file, range, .. } = packed;
    let mut inflater = (central.method == 8).then(|| Decompress::new(false));
    let mut buffer = if inflater.is_some() { vec![0; UNPACKED_BYTES] } else { Vec::new() };
    let (mut hasher, mut size_bytes, mut is_over) = (crc32fast::Hasher::new(), 0_u64, inflater.is_none());
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at.saturating_add(READ_BYTES));
        let bytes = read(platform, file.plan(at..end)?).await?;
        let mut rest = bytes.as_slice();
        let mut was_full = false;
        while !rest.is_empty() || was_full {
            let made = match &mut inflater {
                None => std::mem::take(&mut rest),
                Some(_) if is_over => return Err(bad("an entry's content goes on behind its end")),
                Some(inflater) => {
                    let (read_before, made_before) = (inflater.total_in(), inflater.total_out());
                    let status = inflater.decompress(rest, &mut buffer, FlushDecompress::None);
                    let status = status.map_err(|_| bad("an entry's content is damaged"))?;
                    let place = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
                    let used = place(inflater.total_in() - read_before);
                    let made = place(inflater.total_out() - made_before);
                    is_over = status == Status::StreamEnd;
                    was_full = made == buffer.len() && !is_over;
                    if used == 0 && made == 0 && !is_over {
                        break;
                    }
                    rest = rest.get(used..).unwrap_or_default();
                    buffer.get(..made).unwrap_or_default()
                }
            };
            size_bytes += made.len() as u64;
            if size_bytes > central.size_bytes {
                return Err(other_size());
            }
            hasher.update(made);
            mosaic.bytes(made).await?;
        }
        at = end;
        if at < range.end && !job.heartbeat(platform, progress).await? {
            return Ok(false);
        }
    }
    if !is_over || size_bytes != central.size_bytes {
        return Err(other_size());
    }
    if hasher.finalize() != central.crc32 {
        return Err(other_crc32());
    }
    Ok(true)
}

fn other_size() -> Error {
    bad("an entry's content doesn't have the size that its directory says")
}

fn other_crc32() -> Error {
    bad("an entry's content doesn't have the CRC-32 that its directory says")
}
