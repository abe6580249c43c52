//! Folders as ZIP files that nobody has written: the headers are made from rows, and the content stays where it is.
//!
//! [`open`] reads what is below a folder, or several things, and lays it out ([`Archive`]); any range of the file can then be
//! planned. Entries are stored, not compressed, so every length is known before the first byte: `Content-Length`, `Range`
//! and a strong entity tag cost no more than the rows. [`keep`] makes a file of it, which refers to the same content.

mod keep;
mod layout;
mod names;
mod open;
mod read;
mod zip;

pub use keep::{Keep, keep};
pub use open::{Archive, MAX_ENTRIES, MAX_SOURCES, Sources, open};
