//! `/api/v1/spaces/{space}/archive/{path}`: a folder as a ZIP file.

mod get;

pub(crate) use get::get;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get))]
pub(crate) struct Documented;
