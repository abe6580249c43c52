//! GET of what an import has come to.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::ids::JobId;
use ledge_core::imports::{self, MAX_REFUSED};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::headers::rfc3339;
use crate::openapi::parameters;
use crate::openapi::words::{Refusal, Time};
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// How many refused keys a page has unless the client says.
const DEFAULT_LIMIT: u32 = 100;

/// An import, so far.
#[derive(Serialize, ToSchema)]
struct Import {
    /// Its job's id, too.
    id: String,
    bucket: String,
    prefix: String,
    /// The folder that takes it in.
    into: String,
    #[schema(value_type = Time)]
    created_at: String,
    /// Files that were made.
    files: u64,
    /// Folders that were made.
    folders: u64,
    /// The bytes of the files that were made.
    bytes: u64,
    /// Objects that files were made of before.
    unchanged: u64,
    /// Objects below `ledge/`: a drive's own, which are left out.
    own: u64,
    /// Objects that can't become files.
    refused_count: u64,
    /// A page of them, in the order of their keys.
    refused: Vec<Refused>,
    /// The cursor of the next page of them.
    #[schema(required)]
    next: Option<String>,
}

/// An object that can't become a file.
#[derive(Serialize, ToSchema)]
struct Refused {
    key: String,
    /// `not_a_name`: part of the key can't be a name; `too_deep`: the path would be too long; `taken`: something else has the
    /// name; `twin`: a file has the same name in another Unicode form.
    #[schema(value_type = Refusal)]
    code: String,
    /// The reason, for people.
    reason: String,
}

/// What an import has come to, and a page of the keys that it has refused. For the space's owners.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/imports/{id}",
    params(("id" = String, Path, description = "The import's id, which is its job's."), parameters::Page),
    responses((status = 200, description = "The import.", body = Import)),
)]
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    let query = Query::read(&matched.parts.uri, &["cursor", "limit"])?;
    let limit = query.limit(DEFAULT_LIMIT, u32::try_from(MAX_REFUSED).unwrap_or(u32::MAX))?;
    let after = query.get("cursor").map_or(Ok(0), |cursor| {
        let after = cursor.parse().ok().filter(|after| *after < 1 << 53);
        after.ok_or_else(|| Error::invalid("cursor", "expected a cursor from the page before"))
    })?;
    let id = JobId::parse(matched.path).ok_or(Error::NotFound)?;
    let report = imports::report(platform, &token, &space, &id, after, limit.into()).await?;
    let refused = report.refused.into_iter();
    let import = Import {
        id: report.id.to_string(),
        bucket: report.bucket,
        prefix: report.prefix,
        into: report.into,
        created_at: rfc3339(report.created_at),
        files: report.counts.files,
        folders: report.counts.folders,
        bytes: report.counts.bytes,
        unchanged: report.counts.unchanged,
        own: report.counts.own,
        refused_count: report.counts.refused,
        refused: refused.map(|it| Refused { key: it.key, code: it.code, reason: it.reason }).collect(),
        next: report.next.map(|next| next.to_string()),
    };
    json(StatusCode::OK, &import)
}
