//! Joining files: a file whose content is that of others, one after another. No byte moves but what lies in rows.

use super::commit::{Commit, Content, Refused};
use super::edit::{Edited, Tell};
use super::save::{ATTEMPTS, Saved};
use super::target::Target;
use crate::auth::{self, Right};
use crate::blobs::{self, Base, NewBlob, Reach, STATEMENTS};
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::ids::{BlobId, NodeId, VersionId};
use crate::ingest::{Door, Store};
use crate::jobs;
use crate::ports::{Db, Host, Platform, Timestamp};
use crate::tree::Address;

/// What to join, and on which conditions.
#[derive(Debug, Clone)]
pub struct Concat {
    /// Where the file is to be.
    pub address: Address,
    /// The conditions on what is there.
    pub conditions: Conditions,
    /// What it is made of, in this order; the file itself may be among them.
    pub sources: Vec<Source>,
    /// Its media type.
    pub media_type: String,
}

/// A content.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file; its path may be empty, where its base is the file.
    pub address: Address,
    /// Which of its versions; None: the current one.
    pub version: Option<VersionId>,
}

/// The most contents that are joined at once.
pub const MAX_SOURCES: usize = 50;

/// Makes the file's newest version of other contents. Three round trips. Tells what will have been made before each
/// attempt to commit it.
///
/// # Errors
/// [`Error::Operation`] with the source's place, where one isn't there or can't be read.
pub async fn concat<P: Platform>(platform: &P, request: &Concat, tell: &Tell<'_>) -> Result<Edited> {
    let (target, bases) = find(platform, request).await?;
    let account = target.caller.account.clone();
    let mut door = Door::opens_for(&request.address.token, &request.address.space);
    let mut store = Store::new(platform, target.caller.space_key, &mut door);
    let joined = attempts(platform, request, (target, bases), &mut store, tell).await;
    drop(store);
    if let (Err(error), Some(ingest)) = (&joined, door.ingest()) {
        tell(None)?;
        jobs::discard_ingest(platform, ingest, (&account, &request.address.space), error).await;
    }
    joined
}

async fn attempts<P: Platform>(
    platform: &P,
    request: &Concat,
    (mut target, mut bases): (Target, Vec<Base>),
    store: &mut Store<'_, P>,
    tell: &Tell<'_>,
) -> Result<Edited> {
    let host = platform.host();
    let (version, blob, new_node) = (VersionId::new(host), BlobId::new(host), NodeId::new(host));
    for _ in 0..ATTEMPTS {
        let content = blobs::concat(store, &bases).await?;
        if target.caller.free_bytes.is_some_and(|free| i128::from(content.size_bytes) > i128::from(free)) {
            return Err(Error::QuotaExceeded);
        }
        let now = host.now();
        let edited = edited(request, &target, &content, (&new_node, &version), now);
        tell(Some(&edited))?;
        match commit(request, &target, &content, &edited, &blob, now)?.run(platform).await {
            Ok(()) => return Ok(edited),
            Err(Refused::TargetChanged) => tell(None)?,
            Err(Refused::For(error)) => return Err(error),
        }
        (target, bases) = find(platform, request).await?;
    }
    Err(Error::Conflict(Conflict::Contended))
}

async fn find<P: Platform>(platform: &P, request: &Concat) -> Result<(Target, Vec<Base>)> {
    let now = platform.host().now();
    let mut batch = Target::look(&request.address, now);
    let sources_at = batch.len();
    for source in &request.sources {
        batch.push(auth::look_up_at(&source.address, now));
        batch.extend(blobs::at(&source.address, source.version.as_ref(), &Reach::ends()));
    }
    let results = platform.db().read(batch).await?;
    let target = Target::read(&request.address, &request.conditions, &results)?;
    let mut bases = Vec::with_capacity(request.sources.len());
    let sources = results.get(sources_at..).unwrap_or_default().chunks_exact(1 + STATEMENTS);
    for (index, rows) in sources.enumerate() {
        let who = rows.first().and_then(|rows| rows.first());
        let rows = rows.get(1..).unwrap_or_default();
        let base = auth::authorise(who, Right::Read)
            .and_then(|_| Base::read(rows)?.ok_or(Error::NotFound))
            .map_err(|error| error.of_operation(index))?;
        bases.push(base);
    }
    let mut hashed = Vec::with_capacity(bases.len());
    for (index, (base, source)) in bases.into_iter().zip(&request.sources).enumerate() {
        let base = base.hashed(platform, &source.address, &target.caller.account).await;
        hashed.push(base.map_err(|error| error.of_operation(index))?);
    }
    Ok((target, hashed))
}

fn edited(
    request: &Concat,
    target: &Target,
    content: &NewBlob,
    (new_node, version): (&NodeId, &VersionId),
    now: Timestamp,
) -> Edited {
    let node = target.node.as_ref();
    let saved = Saved {
        node: node.map_or(new_node, |(node, _)| node).clone(),
        created: node.is_none(),
        version: version.clone(),
        etag: content.etag.clone(),
        size_bytes: content.size_bytes,
        modified_at: now,
    };
    Edited { saved, media_type: request.media_type.clone(), start: 0 }
}

fn commit<'a>(
    request: &'a Concat,
    target: &'a Target,
    content: &'a NewBlob,
    edited: &'a Edited,
    blob: &'a BlobId,
    now: Timestamp,
) -> Result<Commit<'a>> {
    Ok(Commit {
        address: &request.address,
        name: request.address.path.last().ok_or(Error::Conflict(Conflict::IsAFolder))?,
        parent: &target.parent,
        replaces: target.node.as_ref().map(|(node, version)| (node, &version.id)),
        placeholder: target.placeholder(),
        node: &edited.saved.node,
        version: &edited.saved.version,
        blob,
        account: &target.caller.account,
        space_key: target.caller.space_key,
        media_type: &edited.media_type,
        now,
        modified_at: now,
        content: Content::New(content),
        appended: None,
        also: Vec::new(),
    })
}
