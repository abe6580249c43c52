//! Folders.

mod create;
mod list;
mod sizes;

pub use create::{Create, Created, create};
pub use list::{Listing, MAX_LIMIT, Only, Page, Sort, list};
pub use sizes::MAX_COUNTED_NODES;
