//! POST of a ZIP file and a folder.

use http::Response;
use ledge_core::error::{Error, Result};
use ledge_core::idempotency::Once;
use ledge_core::ids::NodeId;
use ledge_core::path::Path;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::tree::Address;
use ledge_core::unzip::{self, Unpack};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::openapi::parameters::IdempotencyKey;
use crate::rest::body;
use crate::rest::jobs::{Job, accepted};
use crate::rest::nodes::path;
use crate::rest::once::note;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What to unpack, and where.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UnpackWanted)]
struct Wanted {
    /// Which ZIP file: either this or `path`.
    id: Option<String>,
    /// Names between slashes, not encoded; begins with a slash.
    path: Option<String>,
    /// The folder that takes it in: names between slashes, not encoded, behind a slash. It is made where it is missing.
    into: String,
}

/// Has a job unpack a ZIP file into a folder. What isn't packed is shared with the ZIP file, and not stored again. Nothing that
/// is there is replaced: where a name is taken, the file gets a number. What can't become a file is skipped, and the job's result
/// says why.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/unpack",
    params(IdempotencyKey),
    request_body = Wanted,
    responses(
        (status = 202, description = "The job.", body = Job,
         headers(("Location" = String, description = "Where to watch the job."))),
        (status = 409, description = "`is_a_folder`; `not_a_folder`: a file stands where the folder should."),
        (status = 413, description = "`too_many_entries`: more than 100,000."),
        (status = 422, description = "`bad_archive`: it isn't a ZIP file, or is damaged."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn unpack<P: Platform, U: Upload>(
    once: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let wanted: Wanted = body::read(upload).await?;
    let (base, file) = match (&wanted.id, &wanted.path) {
        (Some(id), None) => (Some(NodeId::parse(id).ok_or(Error::NotFound)?), Path::default()),
        (None, Some(text)) => (None, path("path", text)?),
        _ => return Err(Error::invalid("id", "either an id or a path is needed")),
    };
    let into =
        Address { token: token.clone(), space: space.clone(), base: None, path: path("into", &wanted.into)? };
    let unpack = Unpack { archive: Address { token, space, base, path: file }, into };
    let tell = |job: &ledge_core::jobs::Job| accepted(job.clone()).map(|answer| note(once, answer));
    accepted(unzip::ask(once, &unpack, tell).await?)
}
