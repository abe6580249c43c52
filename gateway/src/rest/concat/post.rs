//! POST: makes a file of the contents of others, one after another.

use http::Response;
use ledge_core::error::{Error, Result};
use ledge_core::files::{self, Edited, MAX_SOURCES};
use ledge_core::idempotency::Once;
use ledge_core::ids::{NodeId, VersionId};
use ledge_core::path::Path;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::tree::Address;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::address::address;
use crate::headers::conditions;
use crate::openapi::parameters::{Conditions, IdempotencyKey};
use crate::rest::body;
use crate::rest::edited::{answer, telling};
use crate::rest::files::{SavedFile, media_type, saved_file};
use crate::rest::nodes::path;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What to join.
#[derive(Deserialize, ToSchema)]
#[schema(as = Concat)]
#[serde(deny_unknown_fields)]
struct Parts {
    /// 1 to 50 files, in this order; the target itself may be among them.
    #[schema(min_items = 1, max_items = 50)]
    sources: Vec<Part>,
    /// Guessed from the name where it isn't given.
    media_type: Option<String>,
}

/// A file.
#[derive(Deserialize, ToSchema)]
#[schema(as = ConcatSource)]
#[serde(deny_unknown_fields)]
struct Part {
    /// Which node: either this or `path`.
    id: Option<String>,
    /// Names between slashes, not encoded; begins with a slash.
    path: Option<String>,
    /// The id of one of its versions; the current one where it isn't given.
    version: Option<String>,
}

/// Makes the file's newest version of other files' contents: 201 where it is new, 200 where it was there. The contents are
/// shared, whatever their size.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/concat/{path}",
    params(Conditions, IdempotencyKey),
    request_body = Parts,
    responses(
        (status = 200, description = "It was there.", body = SavedFile, headers(("ETag" = String))),
        (status = 201, description = "The new file.", body = SavedFile, headers(
            ("ETag" = String), ("Location" = String),
        )),
        (status = 409, description = "`is_a_folder`, `parent_missing` or `contended`."),
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
    let wanted: Parts = body::read(upload).await?;
    if wanted.sources.is_empty() || wanted.sources.len() > MAX_SOURCES {
        return Err(Error::invalid("sources", format!("expected 1 to {MAX_SOURCES} files")));
    }
    let name = address.path.last().map(|name| name.as_str()).unwrap_or_default();
    let given = wanted.media_type.as_deref().map(http::HeaderValue::from_str).transpose();
    let given = given.map_err(|_| Error::invalid("media_type", "expected ASCII"))?;
    let concat = files::Concat {
        conditions: conditions(&matched.parts.headers),
        media_type: media_type(given.as_ref(), name)?,
        sources: wanted.sources.iter().map(|part| source(&address, part)).collect::<Result<_>>()?,
        address,
    };
    let answer = |edited: &Edited| answer(&matched, edited, &saved_file(&concat.address, edited));
    answer(&files::concat(once, &concat, &telling(once, answer)).await?)
}

fn source(target: &Address, part: &Part) -> Result<files::Source> {
    let (base, path) = match (&part.id, &part.path) {
        (Some(id), None) => (Some(NodeId::parse(id).ok_or(Error::NotFound)?), Path::default()),
        (None, Some(text)) => (None, path("path", text)?),
        _ => return Err(Error::invalid("id", "either an id or a path is needed")),
    };
    let version = match &part.version {
        None => None,
        Some(id) => {
            Some(VersionId::parse(id).ok_or_else(|| Error::invalid("version", "expected a version's id"))?)
        }
    };
    Ok(files::Source { address: Address { base, path, ..target.clone() }, version })
}
