//! Jobs: the row is the truth, the queue only wakes a worker.

mod discard;
mod look;
mod work;

pub(crate) use discard::discard_ingest;
pub use look::{Job, State, find};
pub use work::{Claimed, claim, done, failed};

use serde::{Deserialize, Serialize};

use crate::ports::Lane;

/// A kind of work and what it is about; the work itself is in functions/, a file for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    /// Remove what an upload that failed has stored.
    DiscardIngest {
        /// The ingest's row.
        ingest: u64,
        /// The random part of its segments' keys.
        key: String,
    },
}

impl Work {
    /// The queue that it goes through.
    pub fn lane(&self) -> Lane {
        match self {
            Self::DiscardIngest { .. } => Lane::Maintenance,
        }
    }
}
