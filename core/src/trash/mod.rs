//! The trash of a space: what was deleted, until it is restored or purged.

mod list;

pub use list::{MAX_LIMIT, Page, Trashed, list};
