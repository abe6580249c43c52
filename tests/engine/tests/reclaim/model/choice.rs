//! What somebody does next.

use ledge_engine_tests::Random;

use super::offers::{OFFERS, Offer};
use super::operation::Operation;
use super::uploads;
use crate::content::{BLOCKS, CONTENTS, SMALL};
use crate::world::World;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// What WebDAV clients call their folders of parts.
const FOLDERS: [&str; 2] = ["one", "two"];
/// Files that are short enough to be joined: they would grow without end.
const SHORT: &str = "select n.name as it from nodes n join versions v on v.id = n.version_id
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
        [Self::Files, Self::Files, Self::Uploads, Self::Uploads, Self::Deltas, Self::Edits][random.below(6)]
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
            Kind::Deltas => Some(Self::random_of_deltas(world, random).await),
            Kind::Edits => Self::random_edit(world, random).await,
        }
    }

    /// What is under way is mostly gone on with.
    async fn random_of_uploads(world: &World, random: &mut Random) -> Option<Self> {
        let name = NAMES[random.below(NAMES.len())];
        let open = uploads::open(world).await;
        let begin = |random: &mut Random| {
            let end = if random.one_in(2) { SMALL.len() } else { CONTENTS.len() };
            Self::Begin { name, content: random.below(end), is_part: random.one_in(2) }
        };
        let whole = uploads::whole(world).await;
        if let Some(first) = random.of(&whole)
            && random.below(3) < 2
        {
            let rest = whole.iter().filter(|part| *part != first).take(1);
            return Some(Self::Join { parts: [first].into_iter().chain(rest).cloned().collect(), name });
        }
        // Parts are joined only if all of them come to an end.
        if let Some(upload) = open.iter().find(|upload| upload.is_part)
            && random.below(3) < 2
        {
            return Some(Self::Part { body: uploads::rest(upload), upload: upload.clone() });
        }
        Some(match random.below(22) {
            0..3 => begin(random),
            3..11 => match random.of(&open).cloned() {
                Some(upload) => Self::Part { body: uploads::next(random, &upload), upload },
                None => begin(random),
            },
            11 => Self::Abandon(random.of(&open)?.id.clone()),
            12..20 => Self::random_of_folders(world, random).await,
            20 => Self::DropFolder(FOLDERS[random.below(FOLDERS.len())]),
            _ => Self::ExpireUploads,
        })
    }

    async fn random_of_folders(world: &World, random: &mut Random) -> Self {
        let folder = FOLDERS[random.below(FOLDERS.len())];
        match uploads::parts(world, folder).await {
            None => Self::MakeFolder(folder),
            Some(parts) if parts > 0 && random.one_in(3) => {
                Self::JoinFolder { folder, name: NAMES[random.below(NAMES.len())] }
            }
            Some(_) => {
                let body = if random.one_in(4) { some_bytes(random) } else { random_content(random) };
                Self::PutPart { folder, number: random.below(3), body }
            }
        }
    }

    /// Every other list is of chunks that are known, if only for now.
    async fn random_of_deltas(world: &World, random: &mut Random) -> Self {
        let offer = &OFFERS[random.below(OFFERS.len())];
        match random.below(8) {
            0 => Self::Ask(offer),
            1..4 => Self::Pack { offer, is_damaged: random.one_in(6) },
            4..6 => Self::List { name: NAMES[random.below(NAMES.len())], offer },
            _ => {
                let known = world.texts("select hash as it from chunks").await;
                let known: Vec<&Offer> = OFFERS.iter().filter(|offer| offer.is_of(&known)).collect();
                let offer = random.of(&known).copied().unwrap_or(offer);
                Self::List { name: NAMES[random.below(NAMES.len())], offer }
            }
        }
    }

    async fn random_edit(world: &World, random: &mut Random) -> Option<Self> {
        let name = NAMES[random.below(NAMES.len())];
        let short = world.texts(SHORT).await;
        Some(match random.below(10) {
            0..5 => Self::Append { name, body: some_bytes(random) },
            5..8 => {
                let there: Vec<&'static str> =
                    NAMES.into_iter().filter(|name| short.iter().any(|there| there == name)).collect();
                let name = *random.of(&there)?;
                Self::Patch { name, start: random.below(600_000), body: some_bytes(random) }
            }
            _ => {
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
