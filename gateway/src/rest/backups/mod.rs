//! `/api/v1/admin/backups`, `/api/v1/admin/doctor`: dumps of the metadata, and whether all fits together.

mod doctor;
mod list;
mod post;

pub(crate) use doctor::doctor;
pub(crate) use list::list;
pub(crate) use post::post;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, post::post, doctor::doctor))]
pub(crate) struct Documented;
