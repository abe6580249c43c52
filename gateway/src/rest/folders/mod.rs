//! `/api/v1/spaces/{space}/folders/{path}`: folders.

mod put;

pub(crate) use put::put;
