//! A step of a job that unpacks: a few entries, each of which is one commit that the checkpoint is a part of.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::bad;
use super::entry::locate;
use super::place::{self, Place, numbered};
use super::records::{Central, MAX_CENTRAL_BYTES, read_central};
use super::source::Source;
use super::unpacked::{Packed, content};
use crate::archive::MAX_ENTRIES;
use crate::auth::{self, Right};
use crate::conditions::{Conditions, Tags};
use crate::error::{Conflict, Error, Result};
use crate::files::{self, Adopt, Save, Which};
use crate::folders::{self, Create};
use crate::ids::{AccountId, BlobId, NodeId, VersionId};
use crate::ingest::{BUFFER_BYTES, Door, Permit, Store};
use crate::jobs::{self, Claimed, Progress, Step};
use crate::media_type;
use crate::path::Path;
use crate::ports::{Db, Host, Platform, Timestamp};
use crate::tree::Address;

/// What a job unpacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The ZIP file.
    pub(super) archive: NodeId,
    /// Its version, whatever becomes of the file meanwhile.
    pub(super) version: VersionId,
    /// The folder that takes it in.
    pub(super) into: NodeId,
}

/// Where the job is: what it has counted, too.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct At {
    /// How many bytes of the directory are done.
    at: u64,
    entries: u64,
    files: u64,
    bytes: u64,
    skipped: u64,
    /// The first that were skipped, and why.
    reasons: Vec<(String, String)>,
}

/// So much of the directory is read by a step.
const DIRECTORY_BYTES: u64 = 2 * MAX_CENTRAL_BYTES as u64;

/// What unpacks to more than so many times its size, and this, is there to fill a drive.
const MAX_RATIO: u64 = 200;
const FREE_BYTES: u64 = 64 << 20;

/// So many reasons are kept, of names that are cut at so many characters.
const MAX_REASONS: usize = 100;
const REASON_CHARS: usize = 200;

/// So many names are tried where one is taken.
const MAX_NUMBER: usize = 100;

/// What the entries of a step have in common.
struct Unpacking<'a, P> {
    platform: &'a P,
    job: &'a Claimed,
    source: Source<'a, P>,
    into: Address,
    space_key: i64,
    account: AccountId,
    /// Folders that are there.
    made: Vec<Path>,
}

/// Unpacks the next entries, `most` of them. What can't become a file is skipped, and the result says why.
///
/// # Errors
/// What ends the job: the file isn't there any more, or is no ZIP file, or unpacks to too much; the quota, the rights.
pub async fn step<P: Platform>(platform: &P, job: &Claimed, wanted: &Wanted, most: usize) -> Result<Step> {
    let token = job.token(platform).await?;
    let space = job.space.clone().ok_or(Error::NotFound)?;
    let address = |base: &NodeId| Address {
        token: token.clone(),
        space: space.clone(),
        base: Some(base.clone()),
        path: Path::default(),
    };
    let (archive, into) = (address(&wanted.archive), address(&wanted.into));
    let look = platform.db().read(vec![auth::look_up_at(&into, platform.host().now())]).await?;
    let caller = auth::authorise(look.first().and_then(|rows| rows.first()), Right::Write)?;
    let source = Source::open(platform, &archive, &Which::Version(wanted.version.clone())).await?;
    let mut at: At = match &job.checkpoint {
        serde_json::Value::Null => At::default(),
        checkpoint => serde_json::from_value(checkpoint.clone())
            .map_err(|error| Error::Internal(format!("a checkpoint: {error}")))?,
    };
    let _permit = Permit::take(platform.settings(), Some(2 * BUFFER_BYTES as u64))?;
    let directory = source.end.directory.clone();
    let from = directory.start.saturating_add(at.at).min(directory.end);
    let bytes = source.bytes(from..directory.end.min(from.saturating_add(DIRECTORY_BYTES))).await?;
    let (space_key, account) = (caller.space_key, caller.account);
    let mut unpacking =
        Unpacking { platform, job, source, into, space_key, account, made: vec![Path::default()] };
    let mut rest = bytes.as_slice();
    let mut count = 0;
    while count < most && !rest.is_empty() {
        let Some((central, length)) = read_central(rest)? else { break };
        if !unpacking.entry(&central, length as u64, &mut at).await? {
            break;
        }
        rest = rest.get(length..).unwrap_or_default();
        count += 1;
    }
    let progress = unpacking.progress(&at);
    if directory.start.saturating_add(at.at) >= directory.end {
        let skipped: Vec<_> =
            at.reasons.iter().map(|(name, reason)| json!({"name": name, "reason": reason})).collect();
        let result = json!({
            "files": at.files, "bytes": at.bytes,
            "skipped_total": at.skipped, "skipped": skipped,
        });
        return Ok(Step::Done { progress, result });
    }
    if count == 0 && rest.len() as u64 == bytes.len() as u64 && read_central(rest)?.is_none() {
        return Err(bad("its directory is cut off"));
    }
    let checkpoint = serde_json::to_value(&at).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Step::More { progress, checkpoint, after_secs: 0 })
}

impl<P: Platform> Unpacking<'_, P> {
    fn progress(&self, at: &At) -> Progress {
        Progress {
            items_done: at.entries,
            items_total: Some(self.source.end.entries),
            bytes_done: at.bytes,
            bytes_total: None,
        }
    }

    /// One entry; false where the job should end.
    async fn entry(&mut self, central: &Central, length: u64, at: &mut At) -> Result<bool> {
        let mut next = At { at: at.at + length, entries: at.entries + 1, ..at.clone() };
        if next.entries > MAX_ENTRIES as u64 {
            let reason = format!("it has more than {MAX_ENTRIES} entries");
            return Err(Error::TooManyEntries { reason });
        }
        let done = match place::of(central) {
            Err(reason) => Err(Error::EntryUnsupported { reason }),
            Ok(place) if place.is_folder => self.folder(&place.path).await.map(|()| true),
            Ok(place) if place.path.last().is_none() => Ok(true),
            Ok(place) => self.file(central, &place, &mut next).await,
        };
        match done {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => {
                let Some(reason) = skips(&error) else { return Err(error) };
                next = At { at: next.at, entries: next.entries, skipped: at.skipped + 1, ..at.clone() };
                if next.reasons.len() < MAX_REASONS {
                    next.reasons.push((central.name.chars().take(REASON_CHARS).collect(), reason));
                }
            }
        }
        *at = next;
        Ok(true)
    }

    /// Makes a folder, with those above it.
    async fn folder(&mut self, path: &Path) -> Result<()> {
        if self.made.contains(path) {
            return Ok(());
        }
        let address = Address { path: path.clone(), ..self.into.clone() };
        let create = Create { address, parents: true, conditions: Conditions::default() };
        folders::create(self.platform, &create).await?;
        self.made.push(path.clone());
        Ok(())
    }

    /// Makes a file; false where the job should end.
    async fn file(&mut self, central: &Central, place: &Place, next: &mut At) -> Result<bool> {
        let allowed = self.source.size_bytes.saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES);
        next.bytes = next.bytes.saturating_add(central.size_bytes);
        if next.bytes > allowed {
            return Err(Error::BadArchive {
                reason: format!(
                    "it unpacks to more than {MAX_RATIO} times its size: nothing more of it is unpacked"
                ),
            });
        }
        next.files += 1;
        let names = place.path.names();
        let above =
            Path::parse(names.iter().take(names.len().saturating_sub(1)).map(crate::path::Name::as_str))?;
        self.folder(&above).await?;
        let (file, range) = locate(self.platform, &self.source, central).await.map_err(of_entry)?;
        let packed = Packed { central, file: &file, range, etag: &self.source.etag };
        let mut door = Door::opens_for(&self.into.token, &self.into.space);
        let mut store = Store::new(self.platform, self.space_key, &mut door);
        let progress = self.progress(next);
        let saved = match content(&mut store, &packed, (self.job, progress)).await {
            Ok(Some(content)) => self.save(central, place, &content, next).await.map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => Err(of_entry(error)),
        };
        drop(store);
        if !matches!(saved, Ok(true))
            && let Some(ingest) = door.ingest()
        {
            let error = saved.as_ref().err().cloned().unwrap_or(Error::Busy);
            jobs::discard_ingest(self.platform, ingest, (&self.account, &self.into.space), &error).await;
        }
        saved
    }

    /// Commits a file together with the checkpoint behind it, under the first name that is free.
    async fn save(
        &self,
        central: &Central,
        place: &Place,
        content: &crate::blobs::NewBlob,
        next: &At,
    ) -> Result<()> {
        let names = place.path.names();
        let name = place.path.last().ok_or(Error::NotFound)?;
        let blob = BlobId::new(self.platform.host());
        let checkpoint = serde_json::to_value(next).map_err(|error| Error::Internal(error.to_string()))?;
        for number in 1..=MAX_NUMBER {
            let Some(name) = numbered(name, number) else { break };
            let above = names.iter().take(names.len().saturating_sub(1));
            let path = Path::parse(above.map(crate::path::Name::as_str).chain([name.as_str()]))?;
            let save = Save {
                address: Address { path, ..self.into.clone() },
                conditions: Conditions { if_none_match: Some(Tags::Any), ..Conditions::default() },
                media_type: media_type::guess(name.as_str()),
                modified_at: central.modified_secs.map(|secs| Timestamp(secs.max(0).saturating_mul(1000))),
                length: None,
                expected: Vec::new(),
            };
            let adopt = Adopt {
                content: files::commit::Content::New(content),
                blob: &blob,
                etag: &content.etag,
                before: vec![self.job.guard()],
            };
            let behind = |_: &files::Saved| {
                let now = self.platform.host().now();
                Ok(vec![self.job.checkpoint(&checkpoint, self.progress(next), now)?])
            };
            match files::adopt(self.platform, &save, &adopt, behind).await {
                Err(Error::PreconditionFailed | Error::Conflict(Conflict::IsAFolder)) => {}
                done => return done.map(|_| ()),
            }
        }
        Err(Error::EntryUnsupported { reason: "its name is taken, and so are those with numbers".to_owned() })
    }
}

/// What is wrong with one entry isn't with the others.
fn of_entry(error: Error) -> Error {
    match error {
        Error::BadArchive { reason } => Error::EntryUnsupported { reason },
        error => error,
    }
}

/// Why an entry is skipped; None for what ends the job, or is tried again.
fn skips(error: &Error) -> Option<String> {
    match error {
        Error::EntryUnsupported { reason } => Some(reason.clone()),
        Error::TooManyEntries { .. } => None,
        Error::Invalid { reason, .. } => Some(reason.clone()),
        Error::Conflict(Conflict::NotAFolder | Conflict::IsAFile | Conflict::TooDeep) => {
            Some("something is in the way, or it would be too deep".to_owned())
        }
        _ => None,
    }
}
