//! What is in a ZIP file of the drive, without unpacking it: the directory at its end is read page by page, and an entry where
//! it lies.
//!
//! Nothing in such a file is believed. [`records`] reads bytes into numbers and says what doesn't fit, for any bytes at all;
//! what is read of the file at once is bounded, whatever its numbers say.

mod entry;
mod list;
mod names;
mod records;
mod source;

pub use entry::{Opened, inflate, open};
pub use list::{Entry, Page, Position, list};
pub use records::{Central, End, TAIL_BYTES, find_end, read_central, read_local};

use crate::error::Error;

/// The file isn't a ZIP file that can be read.
fn bad(reason: impl Into<String>) -> Error {
    Error::BadArchive { reason: reason.into() }
}
