//! `/api/v1/jobs`: background work.

mod list;

pub(crate) use list::list;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list))]
pub(crate) struct Documented;
