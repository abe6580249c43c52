//! `/api/v1/spaces/{space}/files/{path}`: content.

mod get;
mod multipart;
mod put;

pub(crate) use get::get;
pub(crate) use put::put;
