//! PATCH of a space: its name, and what it keeps.

use http::{Response, StatusCode};
use ledge_core::doctor::DEFAULT;
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::spaces::{self, Change};
use utoipa::ToSchema;

use super::Space;
use crate::address::space;
use crate::rest::json;
use crate::rest::members::Members;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What is to change. What isn't there stays as it is; null takes a limit away.
#[derive(ToSchema)]
#[schema(as = SpaceChange)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only described: the members are read by their names")]
struct Wanted {
    #[schema(value_type = String, min_length = 1, max_length = 255)]
    name: Option<String>,
    #[schema(minimum = 1, maximum = 10_000)]
    versions_kept: Option<u64>,
    #[schema(minimum = 1, maximum = 36_500)]
    versions_days: Option<u64>,
    #[schema(minimum = 1, maximum = 36_500)]
    trash_days: Option<u64>,
    #[schema(minimum = 1, maximum = 86_400)]
    append_window_secs: Option<u64>,
    /// A bucket of the configuration, or `default`. For owners who are administrators too. What is stored already stays
    /// where it is.
    bucket: Option<String>,
}

/// Changes a space: 200 with the space.
#[utoipa::path(
    patch, path = "/api/v1/spaces/{space}",
    request_body = Wanted,
    responses((status = 200, description = "The space.", body = Space)),
)]
pub(crate) async fn patch<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, id) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let body = Members::read(
        upload,
        &["name", "versions_kept", "versions_days", "trash_days", "append_window_secs", "bucket"],
    )
    .await?;
    let limit = |field| -> Result<Option<Option<u64>>> {
        if body.has(field) { Ok(Some(body.number(field)?)) } else { Ok(None) }
    };
    let name = body.text("name")?.map(str::to_owned);
    if body.has("name") && name.is_none() {
        return Err(Error::invalid("name", "expected a text"));
    }
    let bucket =
        body.text("bucket")?.map(|bucket| Some(bucket.to_owned()).filter(|bucket| bucket != DEFAULT));
    let bucket = if body.has("bucket") { Some(bucket.flatten()) } else { None };
    let change = Change {
        name,
        versions_kept: limit("versions_kept")?,
        versions_days: limit("versions_days")?,
        trash_days: limit("trash_days")?,
        append_window_secs: limit("append_window_secs")?,
        bucket,
    };
    json(StatusCode::OK, &Space::from(spaces::change(platform, &token, &id, &change).await?))
}
