//! PATCH of a version: its label.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::versions::{self, Label, SetLabel};

use utoipa::ToSchema;

use super::{Version, named};
use crate::address::address;
use crate::headers::conditions;
use crate::openapi::parameters::Conditions;
use crate::rest::json;
use crate::rest::members::Members;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What is to change.
#[derive(ToSchema)]
#[schema(as = VersionChange)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only described: the members are read by their names")]
struct Wanted {
    /// Null takes it away.
    #[schema(required, min_length = 1)]
    label: Option<String>,
}

/// Sets the label, or clears it where it is null: 200 with the version.
#[utoipa::path(
    patch, path = "/api/v1/spaces/{space}/versions/{path}",
    params(
        ("version" = String, Query, description = "The version's id."),
        Conditions,
    ),
    request_body = Wanted,
    responses(
        (status = 200, description = "The version.", body = Version),
        (status = 409, description = "`is_a_folder` or `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn patch<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let version = named(&Query::read(&matched.parts.uri, &["version"])?)?;
    let body = Members::read(upload, &["label"]).await?;
    if !body.has("label") {
        return Err(Error::invalid("label", "expected a text, or null to clear it"));
    }
    let label = body.text("label")?.map(Label::parse).transpose()?;
    let request = SetLabel { address, version, label, conditions: conditions(&matched.parts.headers) };
    let entry = versions::set_label(platform, &request).await?;
    json(StatusCode::OK, &Version::from(entry))
}
