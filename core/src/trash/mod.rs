//! The trash of a space: what was deleted, until it is restored or purged.

/// A condition in SQL: the node `n` of the trash was deleted from the folder that the token with this hash is limited to,
/// or from below it, if it is limited to one. A folder that is in the trash itself counts as being where it was.
macro_rules! was_in_scope {
    ($hash:literal) => {
        concat!(
            "((select folder_id from tokens where hash = ",
            $hash,
            ") is null or exists (
                with recursive up (id) as (
                  select n.trashed_from
                  union
                  select coalesce(a.trashed_from, a.parent_id) from up u cross join nodes a where a.id = u.id
                )
                select 1 from up where up.id = (select folder_id from tokens where hash = ",
            $hash,
            ")))"
        )
    };
}

mod expire;
mod hidden;
mod list;
mod pieces;
mod purge;

pub use expire::expire_step;
pub(crate) use expire::{light, look, remove_expired};
pub(crate) use hidden::{copy_root, is_hidden};
pub use list::{MAX_LIMIT, Page, Trashed, list};
pub use pieces::PIECE;
pub use purge::{MAX_PURGED_NODES, Purged, Rest, purge, purge_by_job, purge_step};

use crate::changes::{Record, What};
use crate::error::Result;
use crate::ports::Row;

/// A node of the trash that is to go, with all below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Top {
    id: String,
    is_folder: bool,
}

impl Top {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self { id: row.text("id")?.to_owned(), is_folder: row.text("kind")? == "folder" })
    }

    /// As the feed of changes has it.
    pub(crate) fn purged(&self) -> Record<'_> {
        let is_folder = self.is_folder;
        Record { what: What::Purged, id: &self.id, is_folder, subtree: is_folder, from: None }
    }
}
