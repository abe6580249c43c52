//! A file without content, as part of a larger commit.

use super::commit::{Commit, Content};
use crate::auth::Caller;
use crate::blobs::NewBlob;
use crate::error::Result;
use crate::ids::{BlobId, NodeId, VersionId};
use crate::path::Name;
use crate::ports::{Statement, Timestamp};
use crate::tree::Address;

/// The file that is to be made.
pub(crate) struct Empty<'a> {
    pub(crate) address: &'a Address,
    pub(crate) name: &'a Name,
    pub(crate) parent: &'a NodeId,
    pub(crate) node: &'a NodeId,
    pub(crate) version: &'a VersionId,
    pub(crate) blob: &'a BlobId,
    pub(crate) caller: &'a Caller,
    pub(crate) media_type: &'a str,
    pub(crate) now: Timestamp,
}

/// The statements that make it, guarded like those of a save.
pub(crate) fn empty(file: &Empty<'_>) -> Result<Vec<Statement>> {
    let nothing = NewBlob::empty();
    let commit = Commit {
        address: file.address,
        name: file.name,
        parent: file.parent,
        replaces: None,
        placeholder: None,
        node: file.node,
        version: file.version,
        blob: file.blob,
        account: &file.caller.account,
        space_key: file.caller.space_key,
        media_type: file.media_type,
        now: file.now,
        modified_at: file.now,
        content: Content::New(&nothing),
        appended: None,
        also: Vec::new(),
    };
    commit.statements()
}
