//! What somebody does, and what came of it.

use http::Request;
use ledge_core::error::Error;
use ledge_core::files::{self, Wanted, Which};
use ledge_core::ids::{JobId, VersionId};
use ledge_core::jobs::{self, By, Work};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::reclaim::{FullPass, Reclaimed, Sweep, full_pass, sweep};
use ledge_engine_tests::Random;

use crate::content::{CONTENTS, SMALL};
use crate::world::{Gate, World, few};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

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
}

/// What came of it.
pub(super) enum Outcome {
    Answered(u16),
    Reclaimed(Reclaimed),
    Planned { etag: String, plan: ReadPlan },
    Nothing,
}

pub(super) fn random_content(random: &mut Random) -> &'static [u8] {
    // Every other one is small.
    let end = if random.one_in(2) { SMALL.len() } else { CONTENTS.len() };
    CONTENTS[random.below(end)]
}

impl Operation {
    pub(super) async fn random(world: &World, random: &mut Random) -> Option<Self> {
        let name = NAMES[random.below(NAMES.len())];
        let of = |random: &mut Random, texts: Vec<String>| random.of(&texts).cloned();
        Some(match random.below(120) {
            0..40 => {
                let content = random_content(random);
                Self::Save { name, content, is_damaged: random.one_in(8) }
            }
            40..48 => Self::Copy { from: name, to: NAMES[random.below(NAMES.len())] },
            48..60 => Self::Delete(name),
            60..69 => {
                Self::Purge(if random.one_in(2) { of(random, world.texts(TRASHED).await) } else { None })
            }
            69..74 => Self::Restore(of(random, world.texts(TRASHED).await)?),
            74..78 => Self::RestoreVersion { name, version: of(random, world.texts(VERSIONS).await)? },
            78..82 => Self::DeleteVersion { name, version: of(random, world.texts(VERSIONS).await)? },
            82..84 => Self::ExpireVersions,
            84..86 => Self::ExpireTrash,
            86..101 => Self::Sweep,
            101..105 => Self::FullPass,
            105..109 => Self::Job(of(random, world.texts(JOBS).await)?),
            _ => {
                let version = if random.one_in(3) { of(random, world.texts(VERSIONS).await) } else { None };
                Self::Read { name, version }
            }
        })
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
            request => Outcome::Answered(world.drive.send(&platform, request.request(world)).await.status),
        }
    }

    fn request(&self, world: &World) -> Request<&'static [u8]> {
        let drive = &world.drive;
        let batch = |operation: String| {
            let body = format!("{{\"operations\":[{operation}]}}");
            drive.request("POST", "nodes/batch", body.leak().as_bytes())
        };
        match self {
            Self::Save { name, content, is_damaged } => {
                let mut put = drive.request("PUT", &format!("files/{name}"), content);
                if *is_damaged {
                    put.headers_mut().insert("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==".parse().unwrap());
                }
                put
            }
            Self::Copy { from, to } => batch(format!(
                "{{\"op\":\"copy\",\"path\":\"/{from}\",\"to\":{{\"parent\":\"/\",\"name\":\"{to}\"}},\
                  \"conflict\":\"replace\"}}"
            )),
            Self::Delete(name) => drive.request("DELETE", &format!("files/{name}"), b""),
            Self::Purge(None) => drive.request("DELETE", "trash", b""),
            Self::Purge(Some(id)) => drive.request("DELETE", &format!("trash/{id}"), b""),
            Self::Restore(id) => {
                batch(format!("{{\"op\":\"restore\",\"id\":\"{id}\",\"conflict\":\"rename\"}}"))
            }
            Self::RestoreVersion { name, version } => drive.request(
                "POST",
                &format!("versions/{name}"),
                format!("{{\"restore\":\"{version}\"}}").leak().as_bytes(),
            ),
            Self::DeleteVersion { name, version } => {
                drive.request("DELETE", &format!("versions/{name}?version={version}"), b"")
            }
            other => unreachable!("{other:?} is no request"),
        }
    }
}

const TRASHED: &str = "select id as it from nodes where trashed_at is not null";
const VERSIONS: &str = "select id as it from versions";
const JOBS: &str = "select id as it from jobs where finished_at is null";

/// Whatever happens, nobody is at fault but the world.
fn expected(error: &Error) {
    assert!(
        matches!(error, Error::Unavailable(_) | Error::NotFound | Error::Conflict(_) | Error::Invalid { .. }),
        "{error}"
    );
}

/// Has the functions begin a job of the system's, or go on with the one that is under way.
async fn by_job<P: Platform>(platform: &P, work: &Work) -> Outcome {
    if let Ok(job) = jobs::start(platform, work, By::System).await {
        ledge_functions::run(platform, &job.id).await;
    }
    Outcome::Nothing
}
