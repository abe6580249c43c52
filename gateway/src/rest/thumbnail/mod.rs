//! `/api/v1/spaces/{space}/thumbnail/{path}`: a file's content as a small picture.

mod get;

pub(crate) use get::get;

/// What the API's document says of this route.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get))]
pub(crate) struct Documented;
