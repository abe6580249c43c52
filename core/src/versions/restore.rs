//! Restoring a version: its content becomes the newest version. The blob is shared; no byte moves.

use super::remove_excess;
use super::target::Target;
use crate::changes::{Record, What, record};
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::files::commit::{Refused, VersionRow, version_row, write_once};
use crate::ids::{NodeId, VersionId};
use crate::ports::{Host, Platform, Statement, Timestamp};
use crate::tree::Address;

/// What to restore, and on which conditions.
#[derive(Debug, Clone)]
pub struct Restore {
    /// The file.
    pub address: Address,
    /// The version whose content comes back.
    pub version: VersionId,
    /// The conditions on the file's current version.
    pub conditions: Conditions,
}

/// The new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The file's node.
    pub node: NodeId,
    /// Its new current version.
    pub version: VersionId,
    /// When it was restored: a client that asks by date must see a change.
    pub modified_at: Timestamp,
    /// The content's entity tag, without quotes.
    pub etag: String,
    /// The content's size.
    pub size_bytes: u64,
    /// The content's media type.
    pub media_type: String,
}

/// A restore without conditions runs again when it loses a race; so often, and it has lost to as many others.
const ATTEMPTS: usize = 200;

/// Makes a new version with the content of an older one. Two round trips. Tells what it will have made before each attempt
/// to commit it.
pub async fn restore<P: Platform>(
    platform: &P,
    request: &Restore,
    tell: &dyn Fn(&Restored) -> Result<()>,
) -> Result<Restored> {
    let address = &request.address;
    let version = VersionId::new(platform.host());
    for _ in 0..ATTEMPTS {
        let target = Target::find(platform, address, &request.version, &request.conditions).await?;
        let now = platform.host().now();
        let batch = statements(&target, address, &version, now)?;
        let restored = Restored {
            node: target.node,
            version: version.clone(),
            modified_at: now,
            etag: target.version.etag,
            size_bytes: target.version.size_bytes,
            media_type: target.version.media_type,
        };
        tell(&restored)?;
        let happened = Statement::new("select 1 from versions where id = ?1").bind(&version);
        match write_once(platform, batch, &happened).await {
            Ok(()) => return Ok(restored),
            Err(Refused::TargetChanged) => {}
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

fn statements(
    target: &Target,
    address: &Address,
    version: &VersionId,
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let size_bytes = target.version.size_bytes;
    let change = Record::of_file(What::Updated, target.node.as_str());
    let mut batch = target.guards(address, now, size_bytes)?;
    batch.extend([
        version_row(&VersionRow {
            id: version,
            node: &target.node,
            blob: &target.blob,
            author: &target.caller.account,
            now,
            modified_at: now,
        }),
        Statement::new("update nodes set version_id = ?2, modified_at = ?3 where id = ?1")
            .bind(&target.node)
            .bind(version)
            .bind(now),
        Statement::new("update spaces set used_bytes = used_bytes + ?2 where id = ?1")
            .bind(&address.space)
            .bind(size_bytes),
    ]);
    batch.extend(remove_excess(&target.node, now));
    batch.extend(record(&address.space, now, &[change], &[target.parent.as_str()])?);
    Ok(batch)
}
