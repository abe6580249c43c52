//! `/api/v1/spaces/{space}/nodes/…`: nodes by id or path, whatever they are.

mod batch;
mod get;
mod operations;

pub(crate) use batch::batch;
pub(crate) use get::{by_id, by_path};
pub(in crate::rest) use operations::{Place, Report, conflict, path};

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(batch::batch, get::by_id, get::by_path))]
pub(crate) struct Documented;
