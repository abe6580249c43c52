//! A version takes content that has arrived otherwise than in one body: the end of an upload in parts.

use super::commit::{Commit, Content, Refused, write_once};
use super::save::{ATTEMPTS, Save, Saved, find_again};
use crate::error::{Conflict, Error, Result};
use crate::ids::{BlobId, NodeId, VersionId};
use crate::ports::{Host, Platform, Statement};
use crate::thumbnails;

/// The content.
pub(crate) struct Adopt<'a> {
    /// What it is.
    pub(crate) content: Content<'a>,
    /// Its blob, which has its row or gets it.
    pub(crate) blob: &'a BlobId,
    /// Its entity tag, without quotes.
    pub(crate) etag: &'a str,
    /// Statements before all others: guards of where it comes from, and what gives up its share of the quota.
    pub(crate) before: Vec<Statement>,
}

/// Whether a save could begin now: who asks, the place, the conditions, the locks. One round trip.
pub(crate) async fn check<P: Platform>(platform: &P, request: &Save) -> Result<crate::auth::Caller> {
    request.address.path.last().ok_or(Error::Conflict(Conflict::IsAFolder))?;
    Ok(find_again(platform, request).await?.caller)
}

/// Makes the content the file's newest version, with the guards of a save. `after` are statements of the same batch that
/// depend on what was saved. Two round trips, and two more for each lost race.
pub(crate) async fn adopt<P: Platform>(
    platform: &P,
    request: &Save,
    adopt: &Adopt<'_>,
    after: impl Fn(&Saved) -> Result<Vec<Statement>>,
) -> Result<Saved> {
    let name = request.address.path.last().ok_or(Error::Conflict(Conflict::IsAFolder))?;
    let host = platform.host();
    let (version, new_node) = (VersionId::new(host), NodeId::new(host));
    for _ in 0..ATTEMPTS {
        let target = find_again(platform, request).await?;
        let now = host.now();
        let replaces = target.node.as_ref().map(|(node, version)| (node, &version.id));
        let saved = Saved {
            node: replaces.map_or(&new_node, |(node, _)| node).clone(),
            created: replaces.is_none(),
            version: version.clone(),
            etag: adopt.etag.to_owned(),
            size_bytes: adopt.content.size_bytes(),
            modified_at: request.modified_at.unwrap_or(now),
        };
        let commit = Commit {
            address: &request.address,
            name,
            parent: &target.parent,
            replaces,
            placeholder: target.placeholder(),
            node: &saved.node,
            version: &version,
            blob: adopt.blob,
            account: &target.caller.account,
            space_key: target.caller.space_key,
            media_type: &request.media_type,
            now,
            modified_at: saved.modified_at,
            content: adopt.content,
            appended: None,
            also: Vec::new(),
        };
        let mut batch = adopt.before.clone();
        batch.extend(commit.statements()?);
        batch.extend(after(&saved)?);
        let wanted = commit.thumbnails(platform, &mut batch)?;
        let happened = Statement::new("select 1 from versions where id = ?1").bind(&version);
        match write_once(platform, batch, &happened).await {
            Ok(()) => {
                thumbnails::wake(platform, wanted).await;
                return Ok(saved);
            }
            Err(Refused::TargetChanged) => {}
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}
