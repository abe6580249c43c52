//! POST to a file's versions: restores one, as the newest.

use http::{Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::idempotency::Once;
use ledge_core::ids::VersionId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::versions::{self, Restore, Restored};

use utoipa::ToSchema;

use crate::address::address;
use crate::headers::{conditions, http_date, quoted, rfc3339, set};
use crate::openapi::parameters::{Conditions, IdempotencyKey};
use crate::rest::files::SavedFile;
use crate::rest::json;
use crate::rest::members::Members;
use crate::rest::once::note;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What comes back.
#[derive(ToSchema)]
#[schema(as = VersionRestore)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only described: the members are read by their names")]
struct Wanted {
    /// The version's id.
    restore: String,
}

/// Restores the version that the body names: 201 with the file as it is then.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/versions/{path}",
    params(Conditions, IdempotencyKey),
    request_body = Wanted,
    responses(
        (status = 201, description = "The file as it is then.", body = SavedFile, headers(
            ("ETag" = String), ("Last-Modified" = String), ("Location" = String),
        )),
        (status = 409, description = "`is_a_folder` or `contended`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn post<P: Platform, U: Upload>(
    once: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let body = Members::read(upload, &["restore"]).await?;
    let version = body.text("restore")?.and_then(VersionId::parse);
    let version = version.ok_or_else(|| Error::invalid("restore", "expected a version's id"))?;
    let request = Restore { address, version, conditions: conditions(&matched.parts.headers) };
    let answer = |restored: &Restored| answer(&matched, &request, restored);
    let tell = |restored: &Restored| answer(restored).map(|answer| note(once, answer));
    answer(&versions::restore(once, &request, &tell).await?)
}

fn answer(matched: &Matched<'_>, request: &Restore, restored: &Restored) -> Result<Response<ReadPlan>> {
    let file = SavedFile {
        id: restored.node.as_str(),
        name: request.address.path.last().map(|name| name.as_str()).unwrap_or_default(),
        kind: "file",
        size_bytes: restored.size_bytes,
        etag: quoted(&restored.etag),
        media_type: &restored.media_type,
        modified_at: rfc3339(restored.modified_at),
        version_id: restored.version.as_str(),
    };
    let mut response = json(StatusCode::CREATED, &file)?;
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&restored.etag));
    set(headers, header::LAST_MODIFIED, http_date(restored.modified_at));
    let path = format!("/api/v1/spaces/{}/files/{}", matched.space, matched.path);
    set(headers, header::LOCATION, format!("{path}?version={}", restored.version));
    Ok(response)
}
