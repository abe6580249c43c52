//! What is in a ZIP file of the drive, without unpacking it: the directory at its end is read page by page, and an entry where
//! it lies.
//!
//! [`ask`] has a job unpack it into a folder, a few entries a [`step`].
//!
//! Nothing in such a file is believed. [`records`] reads bytes into numbers and says what doesn't fit, for any bytes at all;
//! what is read of the file at once is bounded, whatever its numbers say.

mod ask;
mod entry;
mod list;
mod names;
mod place;
mod records;
mod source;
mod step;
mod unpacked;

pub use ask::{Unpack, ask};
pub use entry::{Opened, inflate, open};
pub use list::{Entry, Page, Position, list};
pub use records::{Central, End, TAIL_BYTES, find_end, read_central, read_local};
pub use step::{Wanted, step};

use crate::error::Error;

/// The file isn't a ZIP file that can be read.
fn bad(reason: impl Into<String>) -> Error {
    Error::BadArchive { reason: reason.into() }
}
