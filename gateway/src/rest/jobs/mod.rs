//! `/api/v1/jobs`: background work.

mod list;

pub(crate) use list::list;
