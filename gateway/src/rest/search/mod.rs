//! `/api/v1/spaces/{space}/search/{path}`: search by name.

mod get;

pub(crate) use get::get;
