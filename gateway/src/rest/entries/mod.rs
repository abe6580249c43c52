//! `/api/v1/spaces/{space}/entries/{path}`: what is in a ZIP file of the drive. `…/unpack` has a job
//! make files of it.

mod get;
mod read;
mod unpack;

pub(crate) use get::get;
pub(crate) use unpack::unpack;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get, unpack::unpack))]
pub(crate) struct Documented;
