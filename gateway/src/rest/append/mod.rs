//! `/api/v1/spaces/{space}/append/{path}`: more at the end of a file.

mod post;

pub(crate) use post::post;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(post::post))]
pub(crate) struct Documented;
