//! Deleting a version. Its blob goes with it unless another version has the same one, and its pages unless another
//! blob lists them. Segments stay: only the sweep judges those.

use super::target::Target;
use crate::changes::{Record, What, record};
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::files::commit::{Refused, write_once};
use crate::ids::{BlobId, VersionId};
use crate::ports::{Host, Platform, Statement};
use crate::tree::Address;

/// What to delete, and on which conditions.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The file.
    pub address: Address,
    /// The version.
    pub version: VersionId,
    /// The conditions on the file's current version.
    pub conditions: Conditions,
}

/// The file keeps changing: so often, and the deletion has lost to as many saves.
const ATTEMPTS: usize = 200;

/// Deletes a version that is not the current one. Two round trips.
///
/// # Errors
/// [`Conflict::CurrentVersion`] for the current one: delete the file instead.
pub async fn delete<P: Platform>(platform: &P, request: &Delete) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let target = Target::find(platform, &request.address, &request.version, &request.conditions).await?;
        if target.version.current {
            return Err(Error::Conflict(Conflict::CurrentVersion));
        }
        let now = platform.host().now();
        let mut batch = target.guards(&request.address, now, 0)?;
        batch.extend([
            Statement::new("delete from versions where id = ?1").bind(&request.version),
            Statement::new("update spaces set used_bytes = used_bytes - ?2 where id = ?1")
                .bind(&request.address.space)
                .bind(target.version.size_bytes),
            remove_loose_blob(&target.blob),
        ]);
        batch.extend(remove_unused_pages());
        let change = Record::of_file(What::Updated, target.node.as_str());
        batch.extend(record(&request.address.space, now, &[change], &[target.parent.as_str()])?);
        let happened = Statement::new("select 1 where not exists (select 1 from versions where id = ?1)")
            .bind(&request.version);
        match write_once(platform, batch, &happened).await {
            Ok(()) => return Ok(()),
            Err(Refused::TargetChanged) => {}
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// Removes a blob, unless a version has it still.
pub(crate) fn remove_loose_blob(blob: &BlobId) -> Statement {
    Statement::new(
        "delete from blobs where id = ?1 and not exists (select 1 from versions v where v.blob_id = ?1)",
    )
    .bind(blob)
}

/// Removes what `loose_blobs` lists, unless a version has it still, and empties that list; then the pages.
pub(crate) fn remove_loose_blobs() -> Vec<Statement> {
    let mut statements = vec![
        Statement::new(
            "delete from blobs where id in (
               select l.id from loose_blobs l where not exists (select 1 from versions v where v.blob_id = l.id))",
        ),
        Statement::new("delete from loose_blobs"),
    ];
    statements.extend(remove_unused_pages());
    statements
}

/// Removes the pages that no blob lists any more, and what they say of segments. After the blobs are gone, in the same
/// batch.
pub(crate) fn remove_unused_pages() -> [Statement; 3] {
    [
        Statement::new(
            "delete from page_segments where (segment, page) in (
               select json_extract(x.value, '$[0]'), p.id
                 from page_uses u cross join pages p on p.id = u.page cross join json_each(p.extents) x
                where u.blobs = 0)",
        ),
        Statement::new("delete from pages where id in (select page from page_uses where blobs = 0)"),
        Statement::new("delete from page_uses where blobs = 0"),
    ]
}
