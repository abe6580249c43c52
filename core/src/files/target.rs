//! What an address says now, for whoever saves there.

use crate::auth::{self, Caller, Right};
use crate::conditions::{Conditions, Current, Verdict};
use crate::error::{Conflict, Error, Result};
use crate::ids::{BlobId, NodeId};
use crate::locks;
use crate::ports::{Rows, Statement, Timestamp};
use crate::tree::{Address, Kind, Resolved, Version, resolve};

/// Who saves, and what stands there.
pub(crate) struct Target {
    pub(super) caller: Caller,
    pub(super) parent: NodeId,
    /// The node that is to be replaced, and its version.
    pub(super) node: Option<(NodeId, Version)>,
}

impl Target {
    /// Asks for it; other statements may follow.
    pub(super) fn look(address: &Address, now: Timestamp) -> Vec<Statement> {
        let mut batch = vec![auth::look_up_at(address, now), resolve(address)];
        batch.extend(locks::look(address, now));
        batch
    }

    /// Reads the answers, authorises, and checks the conditions and the locks.
    pub(super) fn read(address: &Address, conditions: &Conditions, results: &[Rows]) -> Result<Self> {
        let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
        let caller = auth::authorise(rows(0).first(), Right::Write)?;
        let resolved = Resolved::read(rows(1), address)?;
        let node = match resolved.node {
            None => None,
            Some(node) => match node.kind {
                Kind::Folder => return Err(Error::Conflict(Conflict::IsAFolder)),
                Kind::File(version) => Some((node.id, version)),
            },
        };
        let current = node
            .as_ref()
            .map(|(_, version)| Current { etag: Some(&version.blob.etag), modified_at: version.modified_at });
        if conditions.evaluate(current, false) != Verdict::Proceed {
            return Err(Error::PreconditionFailed);
        }
        locks::check(&address.token, rows(2), rows(3))?;
        let parent = resolved.parent.ok_or(Error::Conflict(Conflict::IsAFolder))?;
        Ok(Self { caller, parent, node })
    }

    /// The blob of the current version, if there is nothing in it.
    pub(super) fn placeholder(&self) -> Option<&BlobId> {
        let blob = self.node.as_ref().map(|(_, version)| &version.blob);
        blob.filter(|blob| blob.size_bytes == 0).map(|blob| &blob.id)
    }
}
