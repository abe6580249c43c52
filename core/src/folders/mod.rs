//! Folders.

mod create;
mod list;

pub use create::{Create, Created, create};
pub use list::{Listing, MAX_LIMIT, Only, Page, Sort, list};
