//! `/api/v1/spaces/{space}/files/{path}`: content.

mod delete;
mod direct;
mod get;
mod multipart;
mod patch;
mod put;

pub(crate) use delete::delete;
pub(in crate::rest) use get::which;
pub(crate) use get::{Answered, get, read};
pub(in crate::rest) use multipart::content_range;
pub(crate) use patch::patch;
pub(crate) use put::{SavedFile, media_type, media_type_or_guess, put, saved_file, saving};

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get, put::put, patch::patch, delete::delete))]
pub(crate) struct Documented;
