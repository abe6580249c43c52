//! How often a job is tried, and when again.

use crate::ports::{Host, Lane};

/// A lane's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// After so many attempts without a step in between a job is given up, for a person to look at.
    pub max_attempts: u64,
    /// The second attempt comes about this long after the first.
    pub first_retry_secs: u32,
    /// No attempt comes later than this after the one before.
    pub max_retry_secs: u32,
}

impl Rules {
    /// The rules of a lane.
    pub fn of(lane: Lane) -> Self {
        match lane {
            // An image that can't be read won't be readable tomorrow.
            Lane::Thumbnails => Self { max_attempts: 4, first_retry_secs: 10, max_retry_secs: 600 },
            // Somebody waits for it.
            Lane::Archives => Self { max_attempts: 6, first_retry_secs: 5, max_retry_secs: 600 },
            // Nobody waits, and the drive needs it done: outlast a failure of some hours.
            Lane::Maintenance => Self { max_attempts: 12, first_retry_secs: 10, max_retry_secs: 3600 },
        }
    }

    /// When to try again after the given attempt, the first being 1: each time twice as long. Between half of that and
    /// all of it, so that jobs which failed together don't come back together.
    pub(super) fn retry_after_secs(&self, host: &impl Host, attempt: u64) -> u32 {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let most = self.first_retry_secs.saturating_mul(2_u32.saturating_pow(doublings));
        let most = most.min(self.max_retry_secs).max(1);
        let mut random = [0; 4];
        host.random(&mut random);
        let half = most / 2;
        most - half + u32::from_le_bytes(random) % (half + 1)
    }
}
