//! Moving, copying, deleting and restoring nodes: rows only, never content.
//!
//! However many operations and however large the trees: one round trip reads, pure rules decide ([`decide`]), and one
//! guarded batch commits, all or nothing. A lost race reads and decides again. Ids from other spaces, and nodes
//! that don't lead up to the living root, are not found.

mod batch;
mod commit;
mod decide;
mod delete;
mod large;
mod numbers;
mod over;
mod read;
mod stat;
mod view;

pub use batch::{Became, batch, batch_telling, copy_by_job};
pub(crate) use commit::quota;
pub use delete::delete;
pub use large::{CopyLimits, Large, MAX_NODES_BY_JOB, copy_step};
pub use stat::{Stat, stat};

use serde::{Deserialize, Serialize};

use crate::conditions::Conditions;
use crate::error::{Error, Result};
use crate::ids::{NodeId, SpaceId};
use crate::path::{Name, Path};
use crate::tree::Address;

/// The most operations in a batch.
pub const MAX_OPERATIONS: usize = 1000;
/// The most nodes that the copies of one commit make: about half a second of D1's time. A batch that is one copy, and of more,
/// is a job's.
pub const MAX_COPIED_NODES: u64 = 20_000;

/// One operation of a batch. Paths, names and contents of folders are those before the batch; places fill and become
/// free in the order of the operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// What to do.
    pub verb: Verb,
    /// To which node.
    pub node: Target,
    /// Where to; what is None stays as it is, or was before it was deleted.
    pub to: To,
    /// What to do where the name is taken.
    pub conflict: OnConflict,
    /// What the node must be.
    pub expected: Expected,
    /// Of a copied folder: without what is in it.
    pub alone: bool,
}

/// What to do with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Give it another parent or name.
    Move,
    /// Make a copy of it and all below; contents are shared.
    Copy,
    /// Put it into the trash.
    Delete,
    /// Take it out of the trash.
    Restore,
}

impl Verb {
    /// The name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Copy => "copy",
            Self::Delete => "delete",
            Self::Restore => "restore",
        }
    }
}

/// How a node is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// By id.
    Id(NodeId),
    /// By the names from the space's root.
    Path(Path),
    /// By the names from a folder.
    Below(NodeId, Path),
}

/// A place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct To {
    /// The folder.
    pub parent: Option<Target>,
    /// The name.
    pub name: Option<Name>,
}

/// What to do where a name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum OnConflict {
    /// Refuse.
    #[default]
    Fail,
    /// Put what is there into the trash.
    Replace,
    /// Where a file comes to a file, save it there: what is there keeps its id and its history, which goes on with the
    /// other's content, and of what was moved nothing else stays. All else as [`Self::Replace`].
    Save,
    /// Find a free name: `name (2).txt`.
    Rename,
}

/// What the node of an operation must be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Expected {
    /// Whatever it is.
    #[default]
    Any,
    /// A folder for which these hold.
    Folder(Conditions),
    /// A file for which these hold.
    File(Conditions),
    /// A file or a folder for which these hold; a folder has no entity tag.
    Matching(Conditions),
}

/// What became of an operation's node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What was done.
    pub verb: Verb,
    /// The node; of a copy, the new one.
    pub id: NodeId,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its name.
    pub name: String,
    /// Its folder; of a deleted node, the one that it was in.
    pub parent: NodeId,
    /// The node that stood in its place: in the trash now, or the node itself with another content.
    pub replaced: Option<NodeId>,
}

/// The parent of what a space's trash holds. No node has such an id.
pub(crate) fn trash_root(space: &SpaceId) -> String {
    format!("trash/{space}")
}

impl From<&Address> for Target {
    fn from(address: &Address) -> Self {
        let path = address.path.clone();
        address.base.clone().map_or_else(|| Self::Path(path.clone()), |base| Self::Below(base, path.clone()))
    }
}

impl Operation {
    /// Puts the node into the trash.
    pub fn delete(node: Target, expected: Expected) -> Self {
        Self {
            verb: Verb::Delete,
            node,
            to: To::default(),
            conflict: OnConflict::Fail,
            expected,
            alone: false,
        }
    }

    /// Whether the trash may hold more afterwards.
    fn fills_trash(&self) -> bool {
        self.verb == Verb::Delete || self.conflict == OnConflict::Replace
    }

    /// Checks what needs no database.
    fn check(&self) -> Result<()> {
        let nowhere = self.to == To::default();
        match self.verb {
            Verb::Move | Verb::Copy if nowhere => {
                Err(Error::invalid("to", "a parent, a name or both are needed"))
            }
            Verb::Delete if !nowhere => Err(Error::invalid("to", "a deleted node goes into the trash")),
            Verb::Restore if !matches!(self.node, Target::Id(_)) => {
                Err(Error::invalid("path", "what is in the trash has no path: give its id"))
            }
            _ => Ok(()),
        }
    }
}
