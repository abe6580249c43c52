//! Delta saves: `chunks/missing`, `segments` and `segments/direct` of a space, `/api/v1/chunking`, and a file's list of chunks, which has the
//! file's own URL and another media type.

mod chunking;
mod direct;
mod manifest;
mod missing;
mod read;
mod save;
mod segments;

pub(crate) use chunking::chunking;
pub(crate) use direct::{begin as begin_direct, verify as verify_direct};
pub(in crate::rest) use manifest::{Manifest, SentManifest, is_sent, is_wanted};
pub(crate) use missing::missing;
pub(in crate::rest) use read::read;
pub(in crate::rest) use save::save;
pub(crate) use segments::segments;

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    paths(chunking::chunking, direct::begin, direct::verify, missing::missing, segments::segments),
    components(schemas(Manifest, SentManifest))
)]
pub(crate) struct Documented;
