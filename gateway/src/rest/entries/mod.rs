//! `/api/v1/spaces/{space}/entries/{path}`: what is in a ZIP file of the drive.

mod get;
mod read;

pub(crate) use get::get;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get))]
pub(crate) struct Documented;
