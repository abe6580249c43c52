//! Files: reading and saving content.

mod commit;
mod read;
mod save;

pub(crate) use commit::for_each_piece;
pub use read::{File, Wanted, find};
pub use save::{Save, Saved, save};
