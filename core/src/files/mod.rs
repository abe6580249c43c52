//! Files: reading and saving content.

mod adopt;
pub(crate) mod commit;
mod concat;
mod edit;
mod empty;
mod read;
mod save;
mod target;
mod turn;

pub(crate) use crate::blobs::for_each_piece;
pub(crate) use adopt::{Adopt, adopt, check};
pub use concat::{Concat, MAX_SOURCES, Source, concat};
pub use edit::{Edit, Edited, Place, Tell, edit};
pub(crate) use empty::{Empty, empty};
pub use read::{File, Wanted, Which, find};
pub(crate) use read::{Stored, bind_place, chunks_statement, find_with, which};
pub use save::{Save, Saved, save};
pub(crate) use save::{commit as commit_save, find_for_all};
