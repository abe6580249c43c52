//! Files: reading and saving content.

pub(crate) mod commit;
mod empty;
mod read;
mod save;

pub(crate) use crate::blobs::for_each_piece;
pub(crate) use empty::{Empty, empty};
pub use read::{File, Wanted, Which, find};
pub use save::{Save, Saved, save};
