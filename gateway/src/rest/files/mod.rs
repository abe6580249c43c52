//! `/api/v1/spaces/{space}/files/{path}`: content.

mod delete;
mod get;
mod multipart;
mod put;

pub(crate) use delete::delete;
pub(crate) use get::{get, read};
pub(crate) use put::{SavedFile, put, saving};

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get, put::put, delete::delete))]
pub(crate) struct Documented;
