//! What somebody does, and what came of it.

use ledge_core::error::Error;
use ledge_core::files::{self, Wanted, Which};
use ledge_core::ids::{JobId, VersionId};
use ledge_core::jobs::{self, By, Work};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::reclaim::{FullPass, Reclaimed, Sweep, full_pass, sweep};
use serde_json::Value;

use super::offers::Offer;
use super::uploads::Open;
use crate::world::{Gate, World, few};

/// One thing to do.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Save { name: &'static str, content: &'static [u8], is_damaged: bool },
    Copy { from: &'static str, to: &'static str },
    Delete(&'static str),
    Purge(Option<String>),
    Restore(String),
    RestoreVersion { name: &'static str, version: String },
    DeleteVersion { name: &'static str, version: String },
    ExpireVersions,
    ExpireTrash,
    Sweep,
    FullPass,
    Job(String),
    Read { name: &'static str, version: Option<String> },
    Begin { name: &'static str, content: usize, is_part: bool },
    Part { upload: Open, body: &'static [u8] },
    Abandon(String),
    Join { parts: Vec<String>, name: &'static str },
    MakeFolder(&'static str),
    PutPart { folder: &'static str, number: usize, body: &'static [u8] },
    JoinFolder { folder: &'static str, name: &'static str },
    DropFolder(&'static str),
    ExpireUploads,
    Ask(&'static Offer),
    Pack { offer: &'static Offer, is_damaged: bool },
    List { name: &'static str, offer: &'static Offer },
    Append { name: &'static str, body: &'static [u8] },
    Patch { name: &'static str, start: usize, body: &'static [u8] },
    Concat { name: &'static str, sources: Vec<String> },
}

/// What came of it.
pub(super) enum Outcome {
    Answered { status: u16, body: Vec<u8> },
    Reclaimed(Reclaimed),
    Planned { etag: String, plan: ReadPlan },
    Nothing,
}

impl Operation {
    /// Of which chunks it has been said that they stay for the grace time, as the index names them.
    pub(super) fn promised(&self, status: u16, body: &[u8]) -> Vec<String> {
        match self {
            Self::Pack { offer, .. } if status == 201 => offer.promised(b"{}"),
            Self::Ask(offer) if status == 200 => offer.promised(body),
            Self::List { offer, .. } if status == 409 && lacks_chunks(body) => offer.promised(body),
            _ => Vec::new(),
        }
    }

    /// Whether its batches may not be late.
    pub(super) fn is_maintenance(&self) -> bool {
        matches!(self, Self::Sweep | Self::FullPass)
    }

    pub(super) async fn run(self, world: &World, gate: &Gate) -> Outcome {
        let platform = world.at(gate);
        match self {
            Self::Sweep => {
                let mut at = Sweep::default();
                while !at.is_done() {
                    match sweep(&platform, at.clone(), &few()).await {
                        Ok(next) => at = next,
                        Err(error) => {
                            expected(&error);
                            break;
                        }
                    }
                }
                Outcome::Reclaimed(at.reclaimed)
            }
            Self::FullPass => {
                let mut at = FullPass::default();
                while !at.is_done() {
                    match full_pass(&platform, at.clone(), &few()).await {
                        Ok(next) => at = next,
                        Err(error) => {
                            expected(&error);
                            break;
                        }
                    }
                }
                Outcome::Reclaimed(at.reclaimed)
            }
            Self::ExpireVersions => by_job(&platform, &Work::ExpireVersions).await,
            Self::ExpireTrash => by_job(&platform, &Work::ExpireTrash).await,
            Self::ExpireUploads => by_job(&platform, &Work::ExpireUploads).await,
            Self::Job(id) => {
                ledge_functions::run(&platform, &JobId::parse(&id).unwrap()).await;
                Outcome::Nothing
            }
            Self::Read { name, version } => {
                let which =
                    version.map_or(Which::Current, |id| Which::Version(VersionId::parse(&id).unwrap()));
                let address = world.drive.address(name);
                match files::find(&platform, &address, &which, Wanted::Everything).await {
                    Ok(file) => Outcome::Planned {
                        etag: file.version.blob.etag.clone(),
                        plan: file.plan(0..file.version.blob.size_bytes).expect("a plan"),
                    },
                    Err(error) => {
                        expected(&error);
                        Outcome::Nothing
                    }
                }
            }
            request => {
                let answer = world.drive.send(&platform, request.request(world)).await;
                Outcome::Answered { status: answer.status, body: answer.body }
            }
        }
    }
}

/// Whether an answer says that chunks are missing.
pub(super) fn lacks_chunks(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|problem| problem["code"] == "chunks_missing")
}

/// Whatever happens, nobody is at fault but the world.
fn expected(error: &Error) {
    assert!(
        matches!(error, Error::Unavailable(_) | Error::NotFound | Error::Conflict(_) | Error::Invalid { .. }),
        "{error}"
    );
}

/// Has the functions begin a job of the system's, or go on with the one that is under way.
pub(super) async fn by_job<P: Platform>(platform: &P, work: &Work) -> Outcome {
    if let Ok(job) = jobs::start(platform, work, By::System).await {
        ledge_functions::run(platform, &job.id).await;
    }
    Outcome::Nothing
}
