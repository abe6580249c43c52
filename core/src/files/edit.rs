//! Editing a file: new bytes over a part of it, behind its end, or beyond that. What is not touched is shared with the
//! version before.

use super::commit::{Appended, Commit, Content, Refused};
use super::save::{ATTEMPTS, Saved};
use super::target::Target;
use super::turn::Turn;
use crate::blobs::{self, Base, NewBlob, Reach, Replay, STATEMENTS, TAIL_BYTES};
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::ids::{BlobId, NodeId, VersionId};
use crate::ingest::{Chain, Door, Expected, Source, Store};
use crate::jobs;
use crate::path::Name;
use crate::plan::ReadPlan;
use crate::ports::{Db, Host, Platform, Timestamp, Upload, UploadError};
use crate::tree::Address;

/// What to write, and on which conditions.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The file.
    pub address: Address,
    /// The conditions on what is there.
    pub conditions: Conditions,
    /// Where the bytes go.
    pub place: Place,
    /// How many there are. Without it they can only be appended.
    pub length: Option<u64>,
    /// The size that the file must have afterwards, where the client says so.
    pub size_bytes: Option<u64>,
    /// The media type of a file that isn't there yet; None: it must be there.
    pub create: Option<String>,
    /// The modification time, where the client gives one.
    pub modified_at: Option<Timestamp>,
    /// Digests that the bytes must have.
    pub expected: Vec<Expected>,
}

/// Is told what will have been made, before each attempt to commit it; nothing, where that came to nothing.
pub type Tell<'a> = dyn Fn(Option<&Edited>) -> Result<()> + 'a;

/// Where bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Behind the last byte.
    End,
    /// From this position on; beyond the end, what is between reads as zeros.
    At(u64),
    /// So many bytes before the end.
    BeforeEnd(u64),
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file's new version.
    pub saved: Saved,
    /// Its media type.
    pub media_type: String,
    /// The position of the first byte that was written.
    pub start: u64,
}

/// The most that lost races wait, in all: others need the time to be done.
const PAUSE_MILLIS: u64 = 20;

/// Writes the body into the file and makes that its newest version. Three round trips, two where the end stays small
/// enough for the blob's row. Whoever loses a race without conditions writes the same bytes into what the others made.
/// Tells what will have been made before each attempt to commit it.
///
/// # Errors
/// [`Error::NotFound`] where there is no file and none is to be made; [`Error::RangeNotSatisfiable`] where the file is
/// too short for [`Place::BeforeEnd`]; [`Conflict::SizeDiffers`].
pub async fn edit<P: Platform, U: Upload>(
    platform: &P,
    request: &Edit,
    upload: U,
    tell: &Tell<'_>,
) -> Result<Edited> {
    let name = request.address.path.last().ok_or(Error::Conflict(Conflict::IsAFolder))?;
    let is_small = request.length.is_some_and(|length| length <= TAIL_BYTES as u64);
    let turn = if request.place == Place::End && is_small {
        let file = format!("{} {}", request.address.space, request.address.way());
        Turn::take(platform.host(), file).await
    } else {
        None
    };
    let found = Found::find(platform, request).await?;
    found.admit(request)?;
    let account = found.target.caller.account.clone();
    let mut door = Door::opens_for(&request.address.token, &request.address.space);
    let mut store = Store::new(platform, found.target.caller.space_key, &mut door);
    let edited = attempts(platform, Attempts { request, name, tell }, found, &mut store, upload).await;
    drop((store, turn));
    if let (Err(error), Some(ingest)) = (&edited, door.ingest()) {
        tell(None)?;
        jobs::discard_ingest(platform, ingest, (&account, &request.address.space), error).await;
    }
    edited
}

struct Attempts<'a> {
    request: &'a Edit,
    name: &'a Name,
    tell: &'a Tell<'a>,
}

/// The body, for another attempt.
enum Body {
    Small(Vec<u8>),
    Stored(ReadPlan),
}

async fn attempts<P: Platform, U: Upload>(
    platform: &P,
    attempts: Attempts<'_>,
    mut found: Found,
    store: &mut Store<'_, P>,
    upload: U,
) -> Result<Edited> {
    let Attempts { request, name, tell } = attempts;
    let host = platform.host();
    let (version, blob, new_node) = (VersionId::new(host), BlobId::new(host), NodeId::new(host));
    let exactly = Exactly { upload, missing: request.length };
    let mut source = Source::new(exactly, request.expected.clone());
    let mut first = Vec::new();
    while first.len() <= TAIL_BYTES {
        let room = TAIL_BYTES + 1 - first.len();
        if source.read(&mut first, room).await? == 0 {
            break;
        }
    }
    let (mut content, mut source, mut body) = if first.len() <= TAIL_BYTES {
        source.finish()?;
        let wanted = found.wanted(Some(first.len() as u64));
        let content = blobs::edit(store, &found.base, wanted, &mut first.as_slice()).await?;
        (content, None, Some(Body::Small(first)))
    } else {
        let mut whole = Chain { before: &first, upload: &mut source, after: &[] };
        let content = blobs::edit(store, &found.base, found.wanted(request.length), &mut whole).await?;
        (content, Some(source), None)
    };
    let mut length = 0;
    if let Some(source) = source.take() {
        length = source.size_bytes();
        source.finish()?;
    } else if let Some(Body::Small(bytes)) = &body {
        length = bytes.len() as u64;
    }
    for attempt in 0..ATTEMPTS {
        let now = host.now();
        let edited = found.edited(request, &content, (&new_node, &version), now);
        if request.size_bytes.is_some_and(|size_bytes| size_bytes != content.size_bytes) {
            return Err(Error::Conflict(Conflict::SizeDiffers));
        }
        tell(Some(&edited))?;
        match found.commit(request, name, &content, &edited, &blob, now).run(platform).await {
            Ok(()) => return Ok(edited),
            Err(Refused::TargetChanged) => tell(None)?,
            Err(Refused::For(error)) => return Err(error),
        }
        let body = match &mut body {
            Some(body) => body,
            None => {
                let plan = content.plan(found.start..found.start + length, store.keys())?;
                body.insert(Body::Stored(plan))
            }
        };
        pause(host, attempt).await;
        found = Found::find(platform, request).await?;
        let wanted = found.wanted(Some(length));
        content = match body {
            Body::Small(bytes) => blobs::edit(store, &found.base, wanted, &mut bytes.as_slice()).await?,
            Body::Stored(plan) => {
                let mut replay = Replay::new(platform, plan.clone());
                let edited = blobs::edit(store, &found.base, wanted, &mut replay).await;
                match replay.failure {
                    Some(error) => return Err(error),
                    None => edited?,
                }
            }
        };
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// Of many that begin again at once, most would lose again.
async fn pause(host: &impl Host, attempt: usize) {
    let mut random = [0];
    host.random(&mut random);
    let most = PAUSE_MILLIS.min(1 << attempt.min(8));
    host.sleep(u64::from(random[0]) % most).await;
}

/// The file as it was read.
struct Found {
    target: Target,
    base: Base,
    start: u64,
    appends: bool,
}

impl Found {
    async fn find<P: Platform>(platform: &P, request: &Edit) -> Result<Self> {
        let address = &request.address;
        let reach = match request.place {
            Place::At(start) => Reach { start: Some(start), length: request.length },
            // The place is known when the size is: until then, as if all of it were written over.
            Place::BeforeEnd(_) => Reach::ends(),
            Place::End => Reach::end(request.length),
        };
        let mut batch = Target::look(address, platform.host().now());
        let base_at = batch.len();
        batch.extend(blobs::at(address, None, &reach));
        let results = platform.db().read(batch).await?;
        let target = Target::read(address, &request.conditions, &results)?;
        let base = Base::read(results.get(base_at..base_at + STATEMENTS).unwrap_or_default())?;
        let base = match (base, &request.create) {
            (Some(base), _) => base.hashed(platform, address, &target.caller.account).await?,
            (None, Some(_)) => Base::empty(),
            (None, None) => return Err(Error::NotFound),
        };
        let start = match request.place {
            Place::End => base.size_bytes,
            Place::At(start) => start,
            Place::BeforeEnd(count) => {
                let start = base.size_bytes.checked_sub(count);
                let start = start.ok_or(Error::RangeNotSatisfiable { size_bytes: base.size_bytes })?;
                // Now that it is known: what is around it.
                let around = Edit { place: Place::At(start), ..request.clone() };
                let found = Box::pin(Self::find(platform, &around)).await?;
                if found.base.size_bytes == base.size_bytes {
                    return Ok(found);
                }
                return Box::pin(Self::find(platform, request)).await;
            }
        };
        Ok(Self { target, base, start, appends: request.place == Place::End })
    }

    /// Whether there is room for the body, before any of it is read.
    fn admit(&self, request: &Edit) -> Result<()> {
        let Some((length, free)) = request.length.zip(self.target.caller.free_bytes) else { return Ok(()) };
        let size_bytes = self.base.size_bytes.max(self.start.saturating_add(length));
        let absorbed = if self.base.appended.is_some() { self.base.size_bytes } else { 0 };
        if i128::from(size_bytes) - i128::from(absorbed) > i128::from(free) {
            return Err(Error::QuotaExceeded);
        }
        Ok(())
    }

    fn wanted(&self, length: Option<u64>) -> blobs::Edit {
        match (self.appends, length) {
            (false, Some(length)) => blobs::Edit::Write { start: self.start, length },
            (_, length) => blobs::Edit::Append { length },
        }
    }

    fn edited(
        &self,
        request: &Edit,
        content: &NewBlob,
        (new_node, version): (&NodeId, &VersionId),
        now: Timestamp,
    ) -> Edited {
        let node = self.target.node.as_ref();
        let media_type = match (node, &request.create) {
            (Some((_, version)), _) => version.blob.media_type.clone(),
            (None, created) => created.clone().unwrap_or_default(),
        };
        let saved = Saved {
            node: node.map_or(new_node, |(node, _)| node).clone(),
            created: node.is_none(),
            version: version.clone(),
            etag: content.etag.clone(),
            size_bytes: content.size_bytes,
            modified_at: request.modified_at.unwrap_or(now),
        };
        Edited { saved, media_type, start: self.start }
    }

    fn commit<'a>(
        &'a self,
        request: &'a Edit,
        name: &'a Name,
        content: &'a NewBlob,
        edited: &'a Edited,
        blob: &'a BlobId,
        now: Timestamp,
    ) -> Commit<'a> {
        let appended = self.appends.then(|| self.appended(now));
        let absorbs_it = appended.is_some_and(|appended| appended.absorbs.is_some());
        Commit {
            address: &request.address,
            name,
            parent: &self.target.parent,
            replaces: self.target.node.as_ref().map(|(node, version)| (node, &version.id)),
            placeholder: self.target.placeholder().filter(|_| !absorbs_it),
            node: &edited.saved.node,
            version: &edited.saved.version,
            blob,
            account: &self.target.caller.account,
            space_key: self.target.caller.space_key,
            media_type: &edited.media_type,
            now,
            modified_at: edited.saved.modified_at,
            content: Content::New(content),
            appended,
            also: Vec::new(),
        }
    }

    /// Whether it goes on in the version that others of the same account have appended to.
    fn appended(&self, now: Timestamp) -> Appended<'_> {
        let goes_on = (self.base.appended.as_ref())
            .filter(|to| now < to.until && to.author == self.target.caller.account.as_str());
        let absorbs = self.target.node.as_ref().map(|(_, version)| (&version.id, &version.blob.id));
        match goes_on {
            Some(to) => Appended { since: to.since, absorbs },
            None => Appended { since: now, absorbs: None },
        }
    }
}

/// A body that has as many bytes as were announced.
struct Exactly<U> {
    upload: U,
    missing: Option<u64>,
}

impl<U: Upload> Upload for Exactly<U> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        let count = self.upload.read(into, at_most).await?;
        let Some(missing) = &mut self.missing else { return Ok(count) };
        match missing.checked_sub(count as u64) {
            Some(0) if count == 0 => Ok(0),
            Some(left) if count > 0 => {
                *missing = left;
                Ok(count)
            }
            Some(left) => Err(UploadError::Cut(format!("{left} more bytes were announced"))),
            None => Err(UploadError::Cut("it has more bytes than were announced".to_owned())),
        }
    }
}
