//! Background work: the row is the truth, the queue only wakes a worker.
//!
//! A job's row is written in the batch of the change that causes it ([`row`]), and a message wakes a worker afterwards
//! ([`wake`]). The worker claims it with a lease ([`claim`]) and works in bounded steps, each of which leaves a
//! checkpoint. Each claim raises the row's `lease`: whatever a worker writes that was overtaken is refused
//! ([`Claimed::guard`]). A message that is lost, and a worker that never comes back, are noticed by the tick
//! ([`tick`]). So a job is begun at least once; what it does to the drive it does once, since that is one commit
//! with the guard in it, or safe to repeat.

mod claim;
mod counts;
mod discard;
mod leave;
mod look;
mod row;
mod rules;
mod steer;
mod tick;
mod token;

pub use claim::{Claim, Claimed, claim};
pub use counts::{LaneCounts, counts};
pub(crate) use discard::discard_ingest;
pub use leave::{Next, Step, leave};
pub(crate) use look::columns;
pub use look::{Job, Page, Progress, State, find, list};
pub(crate) use row::commit;
pub use row::{By, row, start, wake};
pub use rules::Rules;
pub use steer::{cancel, retry};
pub use tick::{Periodic, tick};

use serde::{Deserialize, Serialize};

use crate::ports::Lane;
use crate::{nodes, trash, unzip};

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
    /// Dump the metadata into the bucket; the dump has the job's id.
    Backup,
    /// Examine whether database and bucket fit together.
    Doctor {
        /// Whether to read all content.
        content: bool,
    },
    /// Verify the segments that a client has put into the bucket.
    VerifyUpload {
        /// The direct upload's id.
        upload: String,
    },
    /// Make files of the objects in a bucket; the import has the job's id.
    Import,
    /// Make the CRC-32 and digest of imported content that somebody waits for.
    Hash,
    /// Make the thumbnails of a picture.
    Thumbnails {
        /// The blob's id.
        blob: String,
    },
    /// Remove uploads in parts that were abandoned.
    ExpireUploads,
    /// Give back what nothing needs any more: a sweep.
    Reclaim,
    /// Look through all segments and all objects for what no sweep knows of.
    ReclaimFullPass,
    /// Remove what a purge has hidden, and hide what it has left in the trash.
    Purge {
        /// What it has left.
        rest: Option<trash::Rest>,
    },
    /// Copy a tree of more nodes than one commit makes.
    Copy(Box<nodes::Large>),
    /// Unpack a ZIP file into a folder.
    Unpack(Box<unzip::Wanted>),
    /// Remove what has been in the trash for too long, in all spaces.
    ExpireTrash,
    /// Remove the versions that policies keep no longer, in all spaces.
    ExpireVersions,
}

impl Work {
    /// The queue that it goes through.
    pub fn lane(&self) -> Lane {
        match self {
            Self::Thumbnails { .. } => Lane::Thumbnails,
            Self::DiscardIngest { .. }
            | Self::Backup
            | Self::Doctor { .. }
            | Self::VerifyUpload { .. }
            | Self::Import
            | Self::Hash
            | Self::ExpireUploads
            | Self::Reclaim
            | Self::ReclaimFullPass
            | Self::Purge { .. }
            | Self::Copy(_)
            | Self::ExpireTrash
            | Self::ExpireVersions => Lane::Maintenance,
            Self::Unpack(_) => Lane::Archives,
        }
    }

    /// Of the jobs with the same key only one is unfinished at a time; None where there may be many.
    pub fn unique_key(&self) -> Option<&'static str> {
        match self {
            Self::DiscardIngest { .. }
            | Self::VerifyUpload { .. }
            | Self::Import
            | Self::Hash
            | Self::Thumbnails { .. }
            | Self::Purge { .. }
            | Self::Copy(_)
            | Self::Unpack(_) => None,
            Self::Backup => Some("backup"),
            Self::Doctor { .. } => Some("doctor"),
            Self::ExpireUploads => Some("expire_uploads"),
            Self::Reclaim => Some("reclaim"),
            Self::ReclaimFullPass => Some("reclaim_full_pass"),
            Self::ExpireTrash => Some("expire_trash"),
            Self::ExpireVersions => Some("expire_versions"),
        }
    }
}
