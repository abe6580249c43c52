//! Cuts content as it comes, and stores it: a buffer fills while the one before it is stored.

use super::store::Store;
use super::{BUFFER_BYTES, Permit};
use crate::chunk::{Rechunk, Wants};
use crate::error::Result;
use crate::ports::{Platform, Upload};

/// The content that an edit leaves as it is, where it has to be read.
pub(crate) trait Old {
    /// Appends the bytes `range` to `into`.
    async fn read(&self, range: std::ops::Range<u64>, into: &mut Vec<u8>) -> Result<()>;
}

/// There is none: the content is new from end to end.
pub(crate) struct NothingOld;

impl Old for NothingOld {
    async fn read(&self, _: std::ops::Range<u64>, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}

/// What a content is put together from.
pub(crate) struct Sources<'a, U, O> {
    /// The new bytes.
    pub(crate) new: &'a mut U,
    /// The old ones.
    pub(crate) old: &'a O,
    /// How many bytes there are in all, where that is known: so much memory is asked for.
    pub(crate) expected_bytes: Option<u64>,
}

/// Stores what `rechunk` makes of the sources. `buffer` holds the first new bytes, if some were read already.
pub(crate) async fn stream<P: Platform, U: Upload, O: Old>(
    store: &mut Store<'_, P>,
    rechunk: &mut Rechunk,
    sources: Sources<'_, U, O>,
    permit: &Permit,
) -> Result<()> {
    let Sources { new, old, expected_bytes } = sources;
    let capacity =
        expected_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX).min(BUFFER_BYTES);
    let mut source = Source { new, old };
    let (mut buffer, mut next) = (Vec::with_capacity(capacity), Vec::new());
    // Chunks at the start of the buffer, which wait for it to be full: the fewer segments, the better.
    let (mut ready, mut end) = (Vec::new(), 0);
    loop {
        let wants = rechunk.wants();
        if wants == Wants::Nothing {
            return if ready.is_empty() { Ok(()) } else { store.put(&mut buffer, &ready).await };
        }
        let ended;
        if buffer.len() < BUFFER_BYTES {
            ended = source.fill(&mut buffer, wants).await?;
        } else if permit.has_two_buffers() {
            next.clear();
            next.reserve_exact(BUFFER_BYTES);
            next.extend_from_slice(buffer.get(end..).unwrap_or_default());
            // Both to their ends, even where one fails: a put that is still under way would store a segment behind the
            // back of whoever cleans up.
            let (stored, filled) =
                futures::join!(store.put(&mut buffer, &ready), source.fill(&mut next, wants));
            stored?;
            ended = filled?;
            std::mem::swap(&mut buffer, &mut next);
            (ready, end) = (Vec::new(), 0);
        } else {
            store.put(&mut buffer, &ready).await?;
            buffer.drain(..end);
            (ready, end) = (Vec::new(), 0);
            ended = source.fill(&mut buffer, wants).await?;
        }
        let found = rechunk.cuts(buffer.get(end..).unwrap_or_default());
        ready.extend(found.into_iter().map(|chunk| end + chunk.start..end + chunk.end));
        end = ready.last().map_or(end, |last| last.end);
        if ended {
            rechunk.end_of_new();
        }
    }
}

struct Source<'a, U, O> {
    new: &'a mut U,
    old: &'a O,
}

impl<U: Upload, O: Old> Source<'_, U, O> {
    /// Fills the buffer with what is wanted, as far as it has room; whether the new bytes have ended.
    async fn fill(&mut self, buffer: &mut Vec<u8>, wants: Wants) -> Result<bool> {
        match wants {
            Wants::Old(range) => {
                let room = BUFFER_BYTES.saturating_sub(buffer.len()) as u64;
                let end = range.end.min(range.start.saturating_add(room));
                if end > range.start {
                    self.old.read(range.start..end, buffer).await?;
                }
                Ok(false)
            }
            Wants::New => {
                while buffer.len() < BUFFER_BYTES {
                    if self.new.read(buffer, BUFFER_BYTES - buffer.len()).await? == 0 {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Wants::Nothing => Ok(false),
        }
    }
}
