//! `Queue`: wake-ups for background work.

use crate::ids::JobId;

/// Tells a worker that a job's row is waiting.
///
/// # Contract
/// - At least once, in any order; a message may also be lost. The job's row is the truth, and a sweep sends
///   again what was lost, so a failed `send` never fails the request that caused the job.
/// - Send after the commit that wrote the row, never before.
pub trait Queue {
    /// Sends a wake-up that arrives after about `delay_secs` (at most 24 hours).
    async fn send(&self, lane: Lane, job: &JobId, delay_secs: u32) -> Result<(), QueueError>;
}

/// A queue of its own, with its own concurrency, so that slow work of one kind doesn't hold up another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Small pictures of large ones.
    Thumbnails,
    /// Folders as one file, and back.
    Archives,
    /// Clean-up, expiry, repacking, copies.
    Maintenance,
}

impl Lane {
    /// Every lane.
    pub const ALL: [Self; 3] = [Self::Thumbnails, Self::Archives, Self::Maintenance];

    /// The name in the database, in configuration and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thumbnails => "thumbnails",
            Self::Archives => "archives",
            Self::Maintenance => "maintenance",
        }
    }
}

/// The wake-up could not be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the queue is unavailable: {0}")]
pub struct QueueError(pub String);

impl<T: Queue> Queue for &T {
    async fn send(&self, lane: Lane, job: &JobId, delay_secs: u32) -> Result<(), QueueError> {
        (**self).send(lane, job, delay_secs).await
    }
}
