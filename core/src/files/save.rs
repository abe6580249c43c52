//! Saving a file in one piece: resolve, receive, commit.

use super::commit::{Commit, Content, Refused};
use super::target::Target;
use crate::auth;
use crate::blobs::NewBlob;
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::ids::{BlobId, NodeId, VersionId};
use crate::ingest::{Body, Door, Expected, INLINE_BYTES, Ingest, Permit, Room, receive};
use crate::jobs;
use crate::path::Name;
use crate::ports::{Db, Host, Platform, Rows, Statement, Timestamp, Upload};
use crate::settings::Settings;
use crate::tree::Address;

/// What to save, and on which conditions.
#[derive(Debug, Clone)]
pub struct Save {
    /// Where.
    pub address: Address,
    /// The conditions on what is there.
    pub conditions: Conditions,
    /// The media type.
    pub media_type: String,
    /// The modification time, where the client gives one.
    pub modified_at: Option<Timestamp>,
    /// The body's size, where it is known.
    pub length: Option<u64>,
    /// Digests that the body must have.
    pub expected: Vec<Expected>,
}

/// What was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The file's node.
    pub node: NodeId,
    /// Whether there was no such file before.
    pub created: bool,
    /// The new version.
    pub version: VersionId,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its modification time.
    pub modified_at: Timestamp,
}

/// A writer without conditions runs its commit again when it loses a race; so often, and it has lost to as many others.
pub(super) const ATTEMPTS: usize = 200;

/// Saves a body as the file's newest version.
///
/// Two round trips for content that fits a row; for larger content one more for each 8 MiB, while the body streams.
/// Whatever fails, the old version stays whole.
pub async fn save<P: Platform, U: Upload>(platform: &P, request: &Save, upload: U) -> Result<Saved> {
    let name = request.address.path.last().ok_or(Error::Conflict(Conflict::IsAFolder))?;
    let (target, ingest) = find(platform, request).await?;
    let permit = match admit(platform.settings(), request, &target) {
        Ok(permit) => permit,
        Err(error) => {
            Ingest::forget(ingest.as_ref(), platform).await;
            return Err(error);
        }
    };
    let mut door = Door::open_already(ingest.clone());
    let room = Room { space_key: target.caller.space_key, door: &mut door, permit: &permit };
    let body = Body { upload, length: request.length, expected: request.expected.clone() };
    let caller = target.caller.clone();
    let saved = match receive(platform, room, body).await {
        Ok(received) => match NewBlob::received(received, ingest.as_ref()) {
            Ok(blob) => commit(platform, request, name, target, &blob).await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    drop(permit);
    if let (Err(error), Some(ingest)) = (&saved, ingest) {
        jobs::discard_ingest(platform, &ingest, (&caller.account, &request.address.space), error).await;
    }
    saved
}

/// Whether there may be room for the body, before any of it is read. Where the file's oldest versions go with the commit,
/// only that knows how much becomes free: as much as the current one takes is believed until then.
fn admit(settings: &Settings, request: &Save, target: &Target) -> Result<Permit> {
    let replaced = target.node.as_ref().map_or(0, |(_, version)| i128::from(version.blob.size_bytes));
    let wanted = request.length.map(i128::from);
    if wanted.zip(target.caller.free_bytes).is_some_and(|(wanted, free)| wanted > i128::from(free) + replaced)
    {
        return Err(Error::QuotaExceeded);
    }
    Permit::take(settings, request.length)
}

/// The first round trip: the target, and an ingest where the body may not fit a row.
async fn find<P: Platform>(platform: &P, request: &Save) -> Result<(Target, Option<Ingest>)> {
    let address = &request.address;
    let now = platform.host().now();
    let mut batch = Target::look(address, now);
    let ingest_at = batch.len();
    let results = if request.length.is_some_and(|length| length <= INLINE_BYTES as u64) {
        platform.db().read(batch).await?
    } else {
        batch.push(Ingest::open(platform.host(), &address.token, &address.space, now));
        platform.db().write(batch).await?
    };
    let ingest = results.get(ingest_at).and_then(|rows| rows.first()).map(Ingest::read).transpose()?;
    match Target::read(address, &request.conditions, &results) {
        Ok(target) => Ok((target, ingest)),
        Err(error) => {
            Ingest::forget(ingest.as_ref(), platform).await;
            Err(error)
        }
    }
}

/// The same for content that is named and not sent: only for a token that reaches the whole space. `also` is asked in the
/// same round trip; without it no ingest is opened.
pub(crate) async fn find_for_all<P: Platform>(
    platform: &P,
    request: &Save,
    also: Vec<Statement>,
) -> Result<(Target, Option<Ingest>, Vec<Rows>)> {
    let address = &request.address;
    let now = platform.host().now();
    let mut batch = vec![auth::look_up(&address.token, &address.space, now)];
    batch.extend(Target::look(address, now).into_iter().skip(1));
    let also_at = batch.len();
    let opens = !also.is_empty();
    batch.extend(also);
    let mut results = if opens {
        batch.push(Ingest::open(platform.host(), &address.token, &address.space, now));
        platform.db().write(batch).await?
    } else {
        platform.db().read(batch).await?
    };
    let opened = if opens { results.pop() } else { None };
    let ingest = opened.iter().flatten().next().map(Ingest::read).transpose()?;
    match Target::read(address, &request.conditions, &results) {
        Ok(target) => Ok((target, ingest, results.split_off(also_at.min(results.len())))),
        Err(error) => {
            Ingest::forget(ingest.as_ref(), platform).await;
            Err(error)
        }
    }
}

/// The same, when the race for the target was lost.
pub(super) async fn find_again<P: Platform>(platform: &P, request: &Save) -> Result<Target> {
    let results = platform.db().read(Target::look(&request.address, platform.host().now())).await?;
    Target::read(&request.address, &request.conditions, &results)
}

/// Makes the content a version, and once more as often as others were faster.
pub(crate) async fn commit<P: Platform>(
    platform: &P,
    request: &Save,
    name: &Name,
    mut target: Target,
    content: &NewBlob,
) -> Result<Saved> {
    let host = platform.host();
    let (version, blob, new_node) = (VersionId::new(host), BlobId::new(host), NodeId::new(host));
    for _ in 0..ATTEMPTS {
        let now = host.now();
        let replaces = target.node.as_ref().map(|(node, version)| (node, &version.id));
        let node = replaces.map_or(&new_node, |(node, _)| node);
        let modified_at = request.modified_at.unwrap_or(now);
        let commit = Commit {
            address: &request.address,
            name,
            parent: &target.parent,
            replaces,
            placeholder: target.placeholder(),
            node,
            version: &version,
            blob: &blob,
            account: &target.caller.account,
            space_key: target.caller.space_key,
            media_type: &request.media_type,
            now,
            modified_at,
            content: Content::New(content),
            appended: None,
            also: Vec::new(),
        };
        match commit.run(platform).await {
            Ok(()) => {
                return Ok(Saved {
                    node: node.clone(),
                    created: replaces.is_none(),
                    version,
                    etag: content.etag.clone(),
                    size_bytes: content.size_bytes,
                    modified_at,
                });
            }
            Err(Refused::TargetChanged) => target = find_again(platform, request).await?,
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}
