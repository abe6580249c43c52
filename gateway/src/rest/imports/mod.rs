//! `/api/v1/spaces/{space}/imports`: objects that a bucket has already become files, in place.

mod get;
mod post;

pub(crate) use get::get;
pub(crate) use post::post;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get, post::post))]
pub(crate) struct Documented;
