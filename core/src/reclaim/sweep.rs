//! The order of things: which step comes next, and what they have done together.

use serde::{Deserialize, Serialize};

use super::repack::repack;
use super::{Limits, candidates, delete, ingests, orphans, unused};
use crate::error::Result;
use crate::ports::Platform;

/// What was given back so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reclaimed {
    /// Uploads that never committed, and are gone with all that they have stored.
    pub uploads: u64,
    /// Segments that nothing refers to any more, and that go when the grace time is over.
    pub doomed: u64,
    /// Segments that were mostly dead, and whose living parts are in a new one.
    pub repacked: u64,
    /// Segments that are gone.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that no row knew, and that are gone.
    pub orphans: u64,
}

/// Where a sweep is: the checkpoint between two steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sweep {
    at: Phase,
    /// What it has given back.
    pub reclaimed: Reclaimed,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
enum Phase {
    /// What has begun to go, and what is due.
    #[default]
    Delete,
    Ingests {
        rest: Option<(u64, String)>,
    },
    Candidates,
    Repack {
        after: u64,
    },
    /// A grace time of nothing at all is for tests: what was just doomed is due.
    DeleteAgain,
    Done,
}

impl Sweep {
    /// Whether there is nothing more to do.
    pub fn is_done(&self) -> bool {
        self.at == Phase::Done
    }
}

/// One step of a sweep: what has begun to go and what is due, then uploads that have expired, candidates, and what is
/// mostly dead. Returns the next checkpoint.
///
/// # Errors
/// The bucket or the database failed: repeat the step.
pub async fn sweep<P: Platform>(platform: &P, mut sweep: Sweep, limits: &Limits) -> Result<Sweep> {
    let reclaimed = &mut sweep.reclaimed;
    sweep.at = match sweep.at {
        at @ (Phase::Delete | Phase::DeleteAgain) => {
            let deleted = delete::delete(platform, limits).await?;
            reclaimed.segments += deleted.segments;
            reclaimed.bytes += deleted.bytes;
            match at {
                at if deleted.more => at,
                Phase::Delete => Phase::Ingests { rest: None },
                _ => Phase::Done,
            }
        }
        Phase::Ingests { rest } => {
            let discarded = ingests::expire(platform, rest.as_ref(), limits).await?;
            reclaimed.uploads += discarded.ingests;
            if discarded.more { Phase::Ingests { rest: discarded.rest } } else { Phase::Candidates }
        }
        Phase::Candidates => {
            let doomed = candidates::doom(platform, limits).await?;
            reclaimed.doomed += doomed.segments;
            if doomed.more { Phase::Candidates } else { Phase::Repack { after: 0 } }
        }
        Phase::Repack { after } => {
            let step = repack(platform, after, limits).await?;
            reclaimed.repacked += step.repacked;
            match step.next {
                Some(after) => Phase::Repack { after },
                None => Phase::DeleteAgain,
            }
        }
        Phase::Done => Phase::Done,
    };
    Ok(sweep)
}

/// Where a full pass is: the checkpoint between two steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FullPass {
    at: Place,
    /// What it has given back.
    pub reclaimed: Reclaimed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "place", rename_all = "snake_case")]
enum Place {
    Segments { after: u64 },
    Objects { at: orphans::At },
    Done,
}

impl Default for Place {
    fn default() -> Self {
        Self::Segments { after: 0 }
    }
}

impl FullPass {
    /// Whether there is nothing more to do.
    pub fn is_done(&self) -> bool {
        self.at == Place::Done
    }
}

/// One step of a full pass, the safety net: over all segments, then over all objects. Returns the next checkpoint.
///
/// # Errors
/// The bucket or the database failed: repeat the step.
pub async fn full_pass<P: Platform>(platform: &P, mut pass: FullPass, limits: &Limits) -> Result<FullPass> {
    pass.at = match pass.at {
        Place::Segments { after } => match unused::pass(platform, after, limits).await? {
            Some(after) => Place::Segments { after },
            None => Place::Objects { at: orphans::At::default() },
        },
        Place::Objects { at } => {
            let passed = orphans::pass(platform, at, limits).await?;
            pass.reclaimed.orphans += passed.removed;
            match passed.next {
                Some(at) => Place::Objects { at },
                None => Place::Done,
            }
        }
        Place::Done => Place::Done,
    };
    Ok(pass)
}
