//! Delta saves: `chunks/missing` and `segments` of a space, `/api/v1/chunking`, and a file's list of chunks, which has the
//! file's own URL and another media type.

mod chunking;
mod manifest;
mod missing;
mod read;
mod save;
mod segments;

pub(crate) use chunking::chunking;
pub(in crate::rest) use manifest::{Manifest, SentManifest, is_sent, is_wanted};
pub(crate) use missing::missing;
pub(in crate::rest) use read::read;
pub(in crate::rest) use save::save;
pub(crate) use segments::segments;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    paths(chunking::chunking, missing::missing, segments::segments),
    components(schemas(Manifest, SentManifest))
)]
pub(crate) struct Documented;
