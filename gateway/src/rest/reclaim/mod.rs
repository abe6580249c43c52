//! `/api/v1/admin/reclaim`: giving bytes back, by hand.

mod post;

pub(crate) use post::post;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(post::post))]
pub(crate) struct Documented;
