//! `/api/v1/spaces/{space}/trash`: what was deleted.

mod delete;
mod list;
mod restore;

pub(crate) use delete::{empty, purge};
pub(crate) use list::list;
pub(crate) use restore::restore;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, delete::purge, delete::empty, restore::restore))]
pub(crate) struct Documented;
