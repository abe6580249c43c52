//! `/api/v1/spaces/{space}/locks`: the locks that WebDAV clients hold, for the space's owners.

mod delete;
mod list;

pub(crate) use delete::delete;
pub(crate) use list::list;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, delete::delete))]
pub(crate) struct Documented;
