//! `/api/v1/spaces/{space}/trash`: what was deleted.

mod list;
mod restore;

pub(crate) use list::list;
pub(crate) use restore::restore;
