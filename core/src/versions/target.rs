//! The file and the version that a change is about: the round trip before it, and the guard in it.

use super::list::{Entry, entry};
use crate::auth::{self, Caller, Right};
use crate::conditions::{Conditions, Current, Verdict};
use crate::error::{Conflict, Error, Result};
use crate::ids::{BlobId, NodeId, VersionId};
use crate::locks::{self, Touched};
use crate::ports::{Db, Host, Platform, Statement, Timestamp};
use crate::tree::{self, Address, Kind, Resolved, Version, id, resolve, walk};

/// A version of a file, as they were read.
pub(super) struct Target {
    pub(super) caller: Caller,
    pub(super) parent: NodeId,
    pub(super) node: NodeId,
    pub(super) current: Version,
    pub(super) version: Entry,
    pub(super) blob: BlobId,
}

const VERSION: &str = concat!(
    walk!(),
    "select v.id, v.id = n.version_id as current, v.label, v.author_id, v.created_at, v.modified_at,
            b.id as blob_id, b.size_bytes, b.etag, b.media_type
       from walk w cross join nodes n on n.id = w.id
      cross join versions v on v.id = ?4 and v.node_id = n.id
      cross join blobs b on b.id = v.blob_id
      where w.depth = ?3"
);

impl Target {
    /// Finds the version `wanted` of the file at the address, authorised to write. The conditions are on the file's
    /// current version, as with a save. One round trip.
    pub(super) async fn find<P: Platform>(
        platform: &P,
        address: &Address,
        wanted: &VersionId,
        conditions: &Conditions,
    ) -> Result<Self> {
        let version = Statement::new(VERSION)
            .bind(&address.space)
            .bind(address.way())
            .bind(address.path.depth() as u64)
            .bind(wanted);
        let now = platform.host().now();
        let look_up = auth::look_up_at(address, now);
        let mut batch = vec![look_up, resolve(address), version];
        batch.extend(locks::look(address, now));
        let results = platform.db().read(batch).await?;
        let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
        let caller = auth::authorise(rows(0).first(), Right::Write)?;
        let resolved = match Resolved::read(rows(1), address) {
            Err(Error::Conflict(_)) => return Err(Error::NotFound),
            resolved => resolved?,
        };
        let node = resolved.node.ok_or(Error::NotFound)?;
        let Kind::File(current) = node.kind else { return Err(Error::Conflict(Conflict::IsAFolder)) };
        let parent = resolved.parent.ok_or(Error::NotFound)?;
        let row = rows(2).first().ok_or(Error::NotFound)?;
        let state = Current { etag: Some(&current.blob.etag), modified_at: current.modified_at };
        if conditions.evaluate(Some(state), false) != Verdict::Proceed {
            return Err(Error::PreconditionFailed);
        }
        locks::check(&address.token, rows(3), rows(4))?;
        let (version, blob) = (entry(row)?, id(row, "blob_id", BlobId::parse)?);
        Ok(Self { caller, parent, node: node.id, current, version, blob })
    }

    /// The first statements of a change: they refuse it unless the caller may still write, the file still stands where
    /// it was found with the same current version, the version is still there, `more_bytes` are within the quota, and
    /// no lock is in the way.
    pub(super) fn guards(
        &self,
        address: &Address,
        now: Timestamp,
        more_bytes: u64,
    ) -> Result<Vec<Statement>> {
        let mut guards = vec![self.guard(address, now, more_bytes)];
        guards.extend(locks::guards(&address.token, &address.space, now, &Touched::node(&self.node))?);
        Ok(guards)
    }

    fn guard(&self, address: &Address, now: Timestamp, more_bytes: u64) -> Statement {
        Statement::new(format!(
            "insert into guard (why) select why from (select case
               when not {still_writes} then 'access_gone'
               when not {parent_lives} then 'parent_gone'
               when not exists (select 1 from nodes where id = ?5 and parent_id = ?4 and trashed_at is null
                                   and version_id = ?6)
                 or not exists (select 1 from versions where id = ?7 and node_id = ?5) then 'target_changed'
               when ?8 > 0
                and (select used_bytes + reserved_bytes + ?8 > coalesce(quota_bytes, 9007199254740991) from spaces where id = ?2) then 'quota_exceeded'
             end as why) where why is not null",
            still_writes = auth::STILL_WRITES_IN,
            parent_lives = tree::PARENT_LIVES,
        ))
        .bind(address.token.hash().to_string())
        .bind(&address.space)
        .bind(now)
        .bind(&self.parent)
        .bind(&self.node)
        .bind(&self.current.id)
        .bind(&self.version.id)
        .bind(more_bytes)
    }
}
