//! An edit of content: new bytes over a part of it, behind its end, or beyond that.
//!
//! What is small and at the end goes into the tail, without the bucket. Anything else is cut into chunks with what is
//! around it ([`Rechunk`]), so that content that was edited is found again like content that was saved. What is left of
//! the tail is cut with it, unless the edit leaves it alone. A gap is a hole, but for a few zeros that fit the tail.

use std::ops::Range;

use super::base::Pages;
use super::base::read_object;
use super::new::{Layout, NewBlob};
use super::paginate::paginate;
use super::{Base, TAIL_BYTES, etag, tail};
use crate::chunk::{MAX_BYTES, Rechunk, Wants};
use crate::error::{Error, Result};
use crate::ingest::{Chain, Chunked, Permit, Sources, Store, stream};
use crate::manifest::edit::{MAX_CONTENT_BYTES, Spliced, spans, splice};
use crate::manifest::{Extent, combine_crc32};
use crate::plan::Place;
use crate::ports::{Platform, Upload};

/// Where new bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Behind the end.
    Append {
        /// How many they are, where that is known.
        length: Option<u64>,
    },
    /// Over what is there, or beyond it; what is between the end and the first of them reads as zeros.
    Write {
        /// The first one's position.
        start: u64,
        /// How many they are.
        length: u64,
    },
}

/// What the edit comes to: of the pages, a range is replaced; around the new bytes stand some of the tail's.
struct Plan {
    dirty: Range<u64>,
    before: Vec<u8>,
    after: Vec<u8>,
    /// Zeros between what is before and the new bytes.
    gap: u64,
    keeps_tail: bool,
}

impl Edit {
    fn start(self, base: &Base) -> u64 {
        match self {
            Self::Append { .. } => base.size_bytes,
            Self::Write { start, .. } => start,
        }
    }

    fn length(self) -> Option<u64> {
        match self {
            Self::Append { length } => length,
            Self::Write { length, .. } => Some(length),
        }
    }

    fn plan(self, base: &Base) -> Result<Plan> {
        let paged = base.paged_bytes();
        let start = self.start(base);
        let end = start.saturating_add(self.length().unwrap_or_default());
        if end > MAX_CONTENT_BYTES {
            return Err(Error::invalid("content", format!("it would exceed {MAX_CONTENT_BYTES} bytes")));
        }
        let in_tail = |position: u64| {
            usize::try_from(position.saturating_sub(paged)).unwrap_or(usize::MAX).min(base.tail.len())
        };
        let before = base.tail.get(..in_tail(start)).unwrap_or_default().to_vec();
        let after = base.tail.get(in_tail(end)..).unwrap_or_default().to_vec();
        let keeps_tail = start < paged && end <= paged;
        Ok(Plan {
            dirty: start.min(paged)..end.min(paged),
            before,
            after: if keeps_tail { Vec::new() } else { after },
            gap: start.saturating_sub(base.size_bytes),
            keeps_tail,
        })
    }
}

/// Makes the edited content. `new` has as many bytes as were announced, or ends with an error. `store` keeps what was
/// stored, so that the same bytes can be put into another content where others were faster.
///
/// Bucket operations: none where the result's end fits the tail; else one for what is before the place, one for what is
/// behind it, seldom more, and one for each segment of what changes.
///
/// # Errors
/// [`Error::Busy`] where the memory for it is in use.
pub(crate) async fn edit<P: Platform, U: Upload>(
    store: &mut Store<'_, P>,
    base: &Base,
    wanted: Edit,
    new: &mut U,
) -> Result<NewBlob> {
    let mut plan = wanted.plan(base)?;
    let mut first = Vec::new();
    let at_end = plan.dirty.start == base.paged_bytes();
    if at_end {
        while first.len() <= TAIL_BYTES {
            let room = TAIL_BYTES + 1 - first.len();
            if new.read(&mut first, room).await? == 0 {
                break;
            }
        }
        let around = (plan.before.len() + plan.after.len()) as u64;
        let zeros = plan.gap;
        if around.saturating_add(zeros).saturating_add(first.len() as u64) <= TAIL_BYTES as u64 {
            let mut tail = std::mem::take(&mut plan.before);
            tail.resize(tail.len() + usize::try_from(zeros).unwrap_or_default(), 0);
            tail.extend_from_slice(&first);
            tail.extend_from_slice(&plan.after);
            return Ok(tail::with_tail(store, base, tail));
        }
    }
    let mut range = plan.dirty.clone();
    let mut tail = if plan.keeps_tail { base.tail.clone() } else { Vec::new() };
    if plan.gap == 0 {
        let before = [plan.before.as_slice(), &first].concat();
        let mut new = Chain { before: &before, upload: new, after: &plan.after };
        range = chunk_into(store, base, plan.dirty, &mut new, wanted.length()).await?;
    } else {
        // What is before a hole and what is behind it are cut each by itself.
        if !plan.before.is_empty() {
            let mut new = plan.before.as_slice();
            range = chunk_into(store, base, plan.dirty, &mut new, Some(0)).await?;
        }
        store.put_hole(plan.gap);
        if first.len() <= TAIL_BYTES {
            tail = first;
        } else {
            let mut new = Chain { before: &first, upload: new, after: &[] };
            chunk_into(store, &Base::empty(), 0..0, &mut new, wanted.length()).await?;
        }
    }
    let content = store.take();
    replace(store, base, range, content, tail, plan.keeps_tail).await
}

/// Cuts new bytes with the old ones around `dirty`, and stores them; returns the range of the old pages that they
/// replace.
async fn chunk_into<P: Platform, U: Upload>(
    store: &mut Store<'_, P>,
    base: &Base,
    dirty: Range<u64>,
    new: &mut U,
    length: Option<u64>,
) -> Result<Range<u64>> {
    let manifest = base.manifest();
    let mut rechunk = Rechunk::new(&spans(&manifest, &dirty, &base.chunks)?, dirty.clone());
    // What is read before the place is known; behind it, at least one chunk.
    let before = match rechunk.wants() {
        Wants::Old(range) => range.end.saturating_sub(range.start),
        _ => 0,
    };
    let behind = if dirty.end < base.paged_bytes() { MAX_BYTES as u64 } else { 0 };
    let around = before + behind + 2 * TAIL_BYTES as u64;
    let expected_bytes = length.map(|length| length.saturating_add(around));
    let permit = Permit::take(store.platform().settings(), expected_bytes)?;
    let old = Pages { platform: store.platform(), base };
    let sources = Sources { new, old: &old, expected_bytes };
    stream(store, &mut rechunk, sources, &permit).await?;
    rechunk.replaces().ok_or_else(|| Error::Internal("a re-chunking that never ended".to_owned()))
}

/// Puts what was stored in the place of a range of the pages, with `tail` behind them.
async fn replace<P: Platform>(
    store: &mut Store<'_, P>,
    base: &Base,
    range: Range<u64>,
    content: Chunked,
    tail: Vec<u8>,
    keeps_tail: bool,
) -> Result<NewBlob> {
    let manifest = base.manifest();
    let mut parts = base.chunks.clone();
    let edited = loop {
        match splice(&manifest, range.clone(), content.extents.as_slice(), &parts)? {
            Spliced::Done(edited) => break edited,
            Spliced::Needs(missing) => {
                for part in missing {
                    let place = base.place(part.segment)?;
                    let crc32 =
                        read_crc32(store.platform(), place, part.offset..part.offset + part.length).await?;
                    let (segment, offset, length) = (part.segment, part.offset, part.length);
                    parts.add(Extent { segment, offset, length, crc32 });
                }
            }
        }
    };
    let crc32 = combine_crc32(edited.crc32(), crc32fast::hash(&tail), tail.len() as u64);
    let size_bytes = edited.size_bytes() + tail.len() as u64;
    let replaces_all = range.start == 0 && range.end == base.paged_bytes() && tail.is_empty();
    let etag = if replaces_all {
        content.etag()
    } else {
        let (end, bytes) = if keeps_tail { (range.end, &[][..]) } else { (base.size_bytes, tail.as_slice()) };
        etag::edited(&base.etag, range.start, end, &content.etag(), bytes)
    };
    let (pages, new) = paginate(store, &edited).await?;
    let blob =
        NewBlob { size_bytes, etag, crc32, layout: Layout::Paged { pages, tail }, ..NewBlob::of(store, new) };
    Ok(blob)
}

/// How much of a range is held in memory to know its CRC-32.
const READ_BYTES: u64 = 1024 * 1024;

async fn read_crc32<P: Platform>(platform: &P, place: &Place, range: Range<u64>) -> Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at.saturating_add(READ_BYTES));
        hasher.update(&read_object(platform, place, at..end).await?);
        at = end;
    }
    Ok(hasher.finalize())
}
