//! `/api/v1/spaces/{space}/nodes/…`: nodes by id or path, whatever they are.

mod batch;
mod operations;

pub(crate) use batch::batch;
pub(in crate::rest) use operations::{Place, Report, conflict};

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(batch::batch))]
pub(crate) struct Documented;
