//! Folders.

mod create;
mod list;

pub use create::{Created, create};
pub use list::{Listing, MAX_LIMIT, Only, Page, Sort, list};
