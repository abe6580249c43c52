//! The trash of a space: what was deleted, until it is restored or purged.

mod list;
mod purge;

pub use list::{MAX_LIMIT, Page, Trashed, list};
pub use purge::{MAX_PURGED_NODES, Purged, purge};
