//! `/api/v1/spaces`: the drives themselves, and what each keeps.

mod get;
mod list;
mod patch;

pub(crate) use get::get;
pub(crate) use list::list;
pub(crate) use patch::patch;

use ledge_core::doctor::DEFAULT;
use ledge_core::spaces;
use serde::Serialize;
use utoipa::ToSchema;

use crate::headers::rfc3339;
use crate::openapi::words::{Role, Time};

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list::list, get::get, patch::patch))]
pub(crate) struct Documented;

/// A space, as the caller sees it.
#[derive(Serialize, ToSchema)]
struct Space {
    id: String,
    name: String,
    /// The caller's.
    #[schema(value_type = Role)]
    role: String,
    #[schema(value_type = Time)]
    created_at: String,
    /// Null: no limit.
    #[schema(required)]
    quota_bytes: Option<u64>,
    used_bytes: u64,
    /// What open uploads hold of the quota besides.
    reserved_bytes: u64,
    /// The newest versions of a file that are kept, besides those with a label. Null: all.
    #[schema(required, minimum = 1)]
    versions_kept: Option<u64>,
    /// How many days a version is kept after it was replaced, unless it has a label. Null: for ever.
    #[schema(required, minimum = 1)]
    versions_days: Option<u64>,
    /// How many days the trash is kept. Null: for ever.
    #[schema(required, minimum = 1)]
    trash_days: Option<u64>,
    /// For how many seconds what an account appends to a file is one version. Null: each time another one.
    #[schema(required, minimum = 1)]
    append_window_secs: Option<u64>,
    /// The bucket that new content goes into, by its name in the configuration.
    #[schema(example = "default")]
    bucket: String,
}

impl From<spaces::Space> for Space {
    fn from(space: spaces::Space) -> Self {
        Self {
            id: space.id.to_string(),
            name: space.name,
            role: space.role,
            created_at: rfc3339(space.created_at),
            quota_bytes: space.quota_bytes,
            used_bytes: space.used_bytes,
            reserved_bytes: space.reserved_bytes,
            versions_kept: space.policy.versions_kept,
            versions_days: space.policy.versions_days,
            trash_days: space.policy.trash_days,
            append_window_secs: space.policy.append_window_secs,
            bucket: space.bucket.unwrap_or_else(|| DEFAULT.to_owned()),
        }
    }
}
