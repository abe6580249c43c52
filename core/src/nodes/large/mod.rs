//! Copies of more nodes than one batch makes, by a job.
//!
//! - The request's commit ([`begin`]) checks all that an ordinary copy would be refused for, and makes the new top under a
//!   hidden root, where no walk meets it.
//! - Each step ([`build`]) copies the members of a few folders: those that are there when their folder's turn comes, which
//!   is the order in which `copy_folders` has them. The ids are made from those of the sources, so that a step that is
//!   repeated, and what was moved from a folder that is done to one that isn't, are copied once. What has left the source
//!   by then stays as far as it was copied. The quota is kept at every step.
//! - The last step ([`place`]) gives the top its place, under the guards of an ordinary copy and with its rules for names.
//!   Until then nothing is to be seen.
//!
//! Where the job is cancelled or given up, what was built is handed to another job, which removes it: a trigger does that in
//! the batch that ends the job.

mod begin;
mod build;
mod place;

pub(super) use begin::begin;

use serde::{Deserialize, Serialize};

use super::OnConflict;
use super::decide::Copied;
use crate::error::{Error, Result};
use crate::ids::{NodeId, SpaceId};
use crate::jobs::{Claimed, Step};
use crate::locks::Submitted;
use crate::path::Name;
use crate::ports::Platform;
use crate::token::Protocol;

/// The most nodes that one job copies: some gigabyte of rows.
pub const MAX_NODES_BY_JOB: u64 = 1_000_000;

/// A copy that a job makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Large {
    space: SpaceId,
    /// The new top.
    top: NodeId,
    copied: Copied,
    /// The depth that the top will have, as far as it was known when the job began.
    depth: usize,
    /// The folder that it goes to.
    folder: NodeId,
    name: Name,
    conflict: OnConflict,
    protocol: Protocol,
    submitted: Submitted,
}

/// How much a step copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyLimits {
    /// The most nodes: some hundred milliseconds of a database.
    pub nodes: usize,
    /// The most folders that they are taken from.
    pub folders: u64,
}

impl Default for CopyLimits {
    fn default() -> Self {
        Self { nodes: 2000, folders: 500 }
    }
}

/// A step of the job.
pub async fn copy_step<P: Platform>(
    platform: &P,
    job: &Claimed,
    large: &Large,
    limits: CopyLimits,
) -> Result<Step> {
    if job.checkpoint.is_object() {
        // It has its place, and only the engine wasn't told.
        return Ok(Step::Done { progress: job.progress, result: job.checkpoint.clone() });
    }
    let token = job.token(platform).await?.by(large.protocol).submitting(large.submitted.clone());
    match build::Page::read(platform, job, large, &token, limits).await? {
        Some(page) => page.copy(platform, job, large).await,
        None => place::place(platform, job, large, &token).await,
    }
}

impl Large {
    fn source(&self) -> Result<NodeId> {
        NodeId::parse(&self.copied.source)
            .ok_or_else(|| Error::Internal("a node's id is malformed".to_owned()))
    }

    /// The error of a job that was ended and is begun again.
    fn gone() -> Error {
        Error::invalid("job", "what it had copied was removed when it ended: ask for the copy again")
    }
}
