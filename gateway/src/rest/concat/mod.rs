//! `/api/v1/spaces/{space}/concat/{path}`: a file made of others.

mod post;

pub(crate) use post::post;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(post::post))]
pub(crate) struct Documented;
