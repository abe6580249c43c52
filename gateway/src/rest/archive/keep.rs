//! POST of a list and a path: the ZIP file of the one becomes the file at the other.

use http::{Response, StatusCode, header};
use ledge_core::archive::{self, Keep};
use ledge_core::error::{Conflict, Error, Result};
use ledge_core::files::Edited;
use ledge_core::idempotency::Once;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::tree::Address;
use serde::Deserialize;
use utoipa::ToSchema;

use super::MEDIA_TYPE;
use super::post::sources;
use crate::address::{encoded, space};
use crate::headers::{conditions, quoted, set};
use crate::openapi::parameters::{Conditions, IdempotencyKey};
use crate::rest::edited::telling;
use crate::rest::files::{SavedFile, saved_file};
use crate::rest::nodes::path;
use crate::rest::query::Query;
use crate::rest::{body, json};
use crate::routes::Matched;

/// What is to be in it, and where it is to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ArchiveKept)]
struct Wanted {
    /// 1 to 100 files and folders: an id, or names between slashes, not encoded, behind a slash.
    #[schema(min_items = 1, max_items = 100)]
    paths: Vec<String>,
    /// Where the file is to be: names between slashes, not encoded; begins with a slash.
    to: String,
}

/// Makes a ZIP file of what the list names, and keeps it: 201 where the file is new, 200 where it is the newest version of
/// one that was there. The content is that of the files, and isn't stored again: only names and sizes are, and small files.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/archives",
    params(Conditions, IdempotencyKey),
    request_body = Wanted,
    responses(
        (status = 200, description = "It was there.", body = SavedFile, headers(("ETag" = String))),
        (status = 201, description = "The new file.", body = SavedFile, headers(
            ("ETag" = String), ("Location" = String),
        )),
        (status = 409, description = "`is_a_folder`, `parent_missing`; `contended`: the space keeps changing."),
        (status = 412, description = "`precondition_failed`."),
        (status = 413, description = "`too_many_entries`: more than 100,000, or 65,536 pieces; `body_too_large`."),
        (status = 423, description = "`locked`."),
        (status = 507, description = "`quota_exceeded`: it counts as any other file."),
    ),
)]
pub(crate) async fn keep<P: Platform, U: Upload>(
    once: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let Wanted { paths, to } = body::read(upload).await?;
    let keep = Keep {
        conditions: conditions(&matched.parts.headers),
        sources: sources(&paths, &token, &space)?,
        media_type: MEDIA_TYPE.to_owned(),
        address: Address { token, space, base: None, path: path("to", &to)? },
    };
    if keep.address.path.last().is_none() {
        return Err(Error::Conflict(Conflict::IsAFolder));
    }
    let answer = |edited: &Edited| answer(&keep.address, edited);
    answer(&archive::keep(once, &keep, &telling(once, answer)).await?)
}

fn answer(address: &Address, edited: &Edited) -> Result<Response<ReadPlan>> {
    let status = if edited.saved.created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = json(status, &saved_file(address, edited))?;
    set(response.headers_mut(), header::ETAG, quoted(&edited.saved.etag));
    if edited.saved.created {
        let at = format!("/api/v1/spaces/{}/files/{}", address.space.as_str(), encoded(&address.path));
        set(response.headers_mut(), header::LOCATION, at);
    }
    Ok(response)
}
