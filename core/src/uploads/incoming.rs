//! A part on its way in: a buffer fills while the one before it is stored, and what is whole is committed on the way.

use std::ops::Range;

use crate::chunk;
use crate::error::{Error, Result};
use crate::ingest::{BUFFER_BYTES, Expected, Permit, Source, Store};
use crate::ports::{Platform, Upload};

/// The bytes that have arrived and are not stored yet.
pub(super) struct Incoming<U> {
    source: Option<Source<U>>,
    buffer: Vec<u8>,
    next: Vec<u8>,
    /// How much may arrive.
    at_most: u64,
    arrived: u64,
    ended: bool,
    /// Why it ended early.
    cut: Option<Error>,
    verified: bool,
}

impl<U: Upload> Incoming<U> {
    /// A body that follows `tail`, and must not be longer than `at_most`.
    pub(super) fn new(upload: U, expected: Vec<Expected>, tail: Vec<u8>, at_most: u64) -> Self {
        let verified = !expected.is_empty();
        let source = Some(Source::new(upload, expected));
        let (buffer, next) = (tail, Vec::new());
        Self { source, buffer, next, at_most, arrived: 0, ended: false, cut: None, verified }
    }

    /// Whether a digest was announced: then all of it counts, or nothing.
    pub(super) fn is_verified(&self) -> bool {
        self.verified
    }

    /// Whether nothing more will come.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Why it has ended early, if it has.
    pub(super) fn cut(&mut self) -> Option<Error> {
        self.cut.take()
    }

    /// How much is here and not stored.
    pub(super) fn held_bytes(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Takes what is here and not stored, to be kept elsewhere.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Fills the buffer, or reads to the end.
    ///
    /// # Errors
    /// [`Error::Invalid`] where more comes than may, or the digest is another than announced.
    pub(super) async fn fill(&mut self) -> Result<()> {
        Self::read(&mut self.source, &mut self.buffer, (&mut self.arrived, self.at_most), &mut self.cut)
            .await?;
        self.note_end()
    }

    /// Stores the chunks whose ends are certain: all of them, if it has ended.
    pub(super) async fn store<P: Platform>(
        &mut self,
        store: &mut Store<'_, P>,
        permit: &Permit,
    ) -> Result<()> {
        let chunks: Vec<Range<usize>> = chunk::cuts(&self.buffer, self.ended);
        let end = chunks.last().map_or(0, |last| last.end);
        if self.ended || !permit.has_two_buffers() {
            if !chunks.is_empty() {
                store.put(&mut self.buffer, &chunks).await?;
            }
            self.buffer.drain(..end);
            return Ok(());
        }
        self.next.clear();
        self.next.reserve_exact(BUFFER_BYTES);
        self.next.extend_from_slice(self.buffer.get(end..).unwrap_or_default());
        // Both to their ends, even where one fails: a put that is still under way would store a segment behind the back
        // of whoever cleans up.
        let (stored, filled) = futures::join!(
            store.put(&mut self.buffer, &chunks),
            Self::read(&mut self.source, &mut self.next, (&mut self.arrived, self.at_most), &mut self.cut)
        );
        stored?;
        filled?;
        std::mem::swap(&mut self.buffer, &mut self.next);
        self.note_end()
    }

    /// Reads until the buffer is full. A body that ends early has ended: what has arrived of it is worth keeping.
    async fn read(
        source: &mut Option<Source<U>>,
        buffer: &mut Vec<u8>,
        (arrived, at_most): (&mut u64, u64),
        cut: &mut Option<Error>,
    ) -> Result<()> {
        buffer.reserve_exact(
            BUFFER_BYTES.min(usize::try_from(at_most).unwrap_or(usize::MAX)).saturating_sub(buffer.len()),
        );
        while buffer.len() < BUFFER_BYTES {
            let Some(body) = source.as_mut() else { return Ok(()) };
            match body.read(buffer, BUFFER_BYTES - buffer.len()).await {
                Ok(0) => {
                    if let Some(body) = source.take() {
                        body.finish()?;
                    }
                }
                Ok(count) => *arrived += count as u64,
                Err(error) => {
                    *source = None;
                    *cut = Some(error.into());
                }
            }
            if *arrived > at_most {
                return Err(Error::invalid("body", "more has come than Upload-Length says"));
            }
        }
        Ok(())
    }

    /// A digest that can't be verified any more is a wrong one.
    fn note_end(&mut self) -> Result<()> {
        self.ended = self.source.is_none();
        match &self.cut {
            Some(error) if self.verified => Err(error.clone()),
            _ => Ok(()),
        }
    }
}
