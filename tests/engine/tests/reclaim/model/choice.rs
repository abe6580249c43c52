//! What somebody does next.

use ledge_engine_tests::Random;

use super::offers::OFFERS;
use super::operation::Operation;
use super::uploads;
use crate::content::{BLOCKS, CONTENTS, SMALL};
use crate::world::World;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// What WebDAV clients call their folders of parts.
const FOLDERS: [&str; 2] = ["one", "two"];
/// The longest content that is made by joining others: they would grow without end.
const LONGEST: &str = "select n.name as it from nodes n join versions v on v.id = n.version_id
  join blobs b on b.id = v.blob_id join spaces s on s.root_id = n.parent_id where b.size_bytes < 1000000";

const TRASHED: &str = "select id as it from nodes where trashed_at is not null";
const VERSIONS: &str = "select id as it from versions";
const JOBS: &str = "select id as it from jobs where finished_at is null";

/// What is done by the same clients.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Files,
    Uploads,
    Deltas,
    Edits,
}

impl Kind {
    pub(super) fn random(random: &mut Random) -> Self {
        [Self::Files, Self::Files, Self::Uploads, Self::Deltas, Self::Edits][random.below(5)]
    }
}

pub(super) fn random_content(random: &mut Random) -> &'static [u8] {
    // Every other one is small.
    let end = if random.one_in(2) { SMALL.len() } else { CONTENTS.len() };
    CONTENTS[random.below(end)]
}

/// What is written into files that are there.
fn some_bytes(random: &mut Random) -> &'static [u8] {
    let length = match random.below(6) {
        0..3 => 1 + random.below(2000),
        3..5 => 15_000 + random.below(30_000),
        _ => 100_000,
    };
    &BLOCKS[random.below(BLOCKS.len())][..length]
}

impl Operation {
    /// Every other one is of the kind that this schedule is mostly about: of each kind, much has to come together.
    pub(super) async fn random(world: &World, random: &mut Random, mostly: Kind) -> Option<Self> {
        match random.below(20) {
            0..4 => return Self::random_maintenance(world, random).await,
            4..6 => return Self::random_read(world, random).await,
            _ => {}
        }
        let kind = if random.one_in(2) { mostly } else { Kind::random(random) };
        match kind {
            Kind::Files => Self::random_of_files(world, random).await,
            Kind::Uploads => Self::random_of_uploads(world, random).await,
            Kind::Deltas => Some(Self::random_of_deltas(random)),
            Kind::Edits => Self::random_edit(world, random).await,
        }
    }

    async fn random_of_uploads(world: &World, random: &mut Random) -> Option<Self> {
        let name = NAMES[random.below(NAMES.len())];
        let folder = FOLDERS[random.below(FOLDERS.len())];
        Some(match random.below(30) {
            0..6 => {
                let end = if random.one_in(2) { SMALL.len() } else { CONTENTS.len() };
                Self::Begin { name, content: random.below(end), is_part: random.one_in(3) }
            }
            6..15 => {
                let upload = random.of(&uploads::open(world).await)?.clone();
                let body = uploads::next(random, &upload);
                Self::Part { upload, body }
            }
            15 => Self::Abandon(random.of(&uploads::open(world).await)?.id.clone()),
            16..18 => {
                let whole = uploads::whole(world).await;
                let first = random.of(&whole)?;
                let rest = whole.iter().filter(|part| *part != first).take(1);
                Self::Join { parts: [first].into_iter().chain(rest).cloned().collect(), name }
            }
            18..20 => Self::MakeFolder(folder),
            20..25 => {
                let body = match random.below(4) {
                    0 => some_bytes(random),
                    _ => random_content(random),
                };
                Self::PutPart { folder, number: random.below(3), body }
            }
            25..27 => Self::JoinFolder { folder, name },
            27 => Self::DropFolder(folder),
            _ => Self::ExpireUploads,
        })
    }

    fn random_of_deltas(random: &mut Random) -> Self {
        let offer = &OFFERS[random.below(OFFERS.len())];
        match random.below(8) {
            0 => Self::Ask(offer),
            1..4 => Self::Pack { offer, is_damaged: random.one_in(6) },
            _ => Self::List { name: NAMES[random.below(NAMES.len())], offer },
        }
    }

    async fn random_edit(world: &World, random: &mut Random) -> Option<Self> {
        let name = NAMES[random.below(NAMES.len())];
        Some(match random.below(10) {
            0..5 => Self::Append { name, body: some_bytes(random) },
            5..8 => Self::Patch { name, start: random.below(600_000), body: some_bytes(random) },
            _ => {
                let short = world.texts(LONGEST).await;
                let source = |random: &mut Random| random.of(&short).cloned();
                let sources = (0..=random.below(3)).map(|_| source(random)).collect::<Option<_>>()?;
                Self::Concat { name, sources }
            }
        })
    }

    async fn random_of_files(world: &World, random: &mut Random) -> Option<Self> {
        let name = NAMES[random.below(NAMES.len())];
        let of = |random: &mut Random, texts: Vec<String>| random.of(&texts).cloned();
        Some(match random.below(86) {
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
            _ => Self::ExpireTrash,
        })
    }

    async fn random_maintenance(world: &World, random: &mut Random) -> Option<Self> {
        Some(match random.below(12) {
            0..8 => Self::Sweep,
            8..10 => Self::FullPass,
            _ => Self::Job(random.of(&world.texts(JOBS).await)?.clone()),
        })
    }

    async fn random_read(world: &World, random: &mut Random) -> Option<Self> {
        let versions = if random.one_in(3) { world.texts(VERSIONS).await } else { Vec::new() };
        let name = NAMES[random.below(NAMES.len())];
        Some(Self::Read { name, version: random.of(&versions).cloned() })
    }
}
