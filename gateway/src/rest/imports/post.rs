//! POST of what is to be imported.

use http::Response;
use ledge_core::doctor::DEFAULT;
use ledge_core::error::Result;
use ledge_core::idempotency::Once;
use ledge_core::imports;
use ledge_core::path::Path;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::tree::Address;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::rest::body;
use crate::rest::jobs::{Job, accepted};
use crate::rest::nodes::path;
use crate::rest::once::note;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What is to be imported.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportWanted)]
struct Wanted {
    /// The bucket, by its name in the configuration; `default` where it isn't given.
    bucket: Option<String>,
    /// What the keys begin with; all of them where it isn't given. What of it is before its last slash isn't part of the
    /// files' paths.
    #[schema(max_length = 1024)]
    #[serde(default)]
    prefix: String,
    /// The folder that takes it in, from the space's top: names between slashes, not encoded, the first behind one. It is
    /// made where it is missing; the top where it isn't given.
    into: Option<String>,
}

/// Has a job make a file of each object whose key begins so, in place: no byte is moved, and none is ever removed. The report
/// has the job's id. What a file was made of before isn't imported again. For the space's owners, who must be administrators.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/imports",
    request_body = Wanted,
    responses(
        (status = 202, description = "The job, whose id is the import's.", body = Job,
         headers(("Location" = String, description = "Where to watch the job."))),
        (status = 409, description = "`not_a_folder`: a file stands where the folder should."),
    ),
)]
pub(crate) async fn post<P: Platform, U: Upload>(
    once: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let Wanted { bucket, prefix, into } = body::read(upload).await?;
    let path = into.map_or_else(|| Ok(Path::default()), |text| path("into", &text))?;
    let into = Address { token, space, base: None, path };
    let wanted = imports::Wanted { into, bucket: bucket.filter(|name| name != DEFAULT), prefix };
    let tell = |job: &ledge_core::jobs::Job| accepted(job.clone()).map(|answer| note(once, answer));
    accepted(imports::ask(once, &wanted, tell).await?)
}
