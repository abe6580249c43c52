//! Folders.

mod create;

pub use create::{Created, create};
