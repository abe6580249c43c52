//! A body that has been stored, once more: where others were faster, what it was put between has changed.

use std::collections::VecDeque;

use super::base::read_plan;
use crate::error::Error;
use crate::plan::{ReadPlan, Slice};
use crate::ports::{Platform, Upload, UploadError};

/// So much is asked for at a time.
const PIECE_BYTES: u64 = 1024 * 1024;

/// Reads a body back from where an edit has put it.
pub(crate) struct Replay<'a, P> {
    platform: &'a P,
    slices: VecDeque<Slice>,
    /// Why it broke off, since an upload's own errors are the client's.
    pub(crate) failure: Option<Error>,
}

impl<'a, P: Platform> Replay<'a, P> {
    pub(crate) fn new(platform: &'a P, plan: ReadPlan) -> Self {
        Self { platform, slices: plan.into_slices().into(), failure: None }
    }
}

impl<P: Platform> Upload for Replay<'_, P> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        let Some(slice) = self.slices.pop_front() else { return Ok(0) };
        let (now, later) = split(slice, PIECE_BYTES.min(at_most as u64));
        if let Some(later) = later {
            self.slices.push_front(later);
        }
        let before = into.len();
        let mut plan = ReadPlan::default();
        plan.push(now);
        if let Err(error) = read_plan(self.platform, plan, into).await {
            self.failure = Some(error);
            return Err(UploadError::Cut("it can't be read back".to_owned()));
        }
        Ok(into.len() - before)
    }
}

/// The first bytes of a slice, and the rest if there is one.
fn split(slice: Slice, at: u64) -> (Slice, Option<Slice>) {
    if slice.len() <= at {
        return (slice, None);
    }
    match slice {
        Slice::Inline(mut bytes) => {
            let rest = bytes.split_off(usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len()));
            (Slice::Inline(bytes), Some(Slice::Inline(rest)))
        }
        Slice::Zeros(count) => (Slice::Zeros(at), Some(Slice::Zeros(count - at))),
        Slice::Object { place, range } => {
            let middle = range.start + at;
            let now = Slice::Object { place: place.clone(), range: range.start..middle };
            (now, Some(Slice::Object { place, range: middle..range.end }))
        }
    }
}
