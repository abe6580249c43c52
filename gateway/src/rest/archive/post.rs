//! POST of a list: the files and folders that it names as one ZIP file.

use http::Response;
use ledge_core::archive::{self, MAX_SOURCES, Sources};
use ledge_core::error::{Error, Result};
use ledge_core::ids::{NodeId, SpaceId};
use ledge_core::path::Path;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::token::Token;
use ledge_core::tree::Address;
use serde::Deserialize;
use utoipa::ToSchema;

use super::describe;
use crate::address::space;
use crate::rest::body;
use crate::rest::nodes::path;
use crate::rest::query::Query;
use crate::routes::Matched;

/// What is to be in it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ArchiveWanted)]
struct Wanted {
    /// 1 to 100 files and folders: an id, or names between slashes, not encoded, behind a slash.
    #[schema(min_items = 1, max_items = 100)]
    paths: Vec<String>,
    /// What the file should be called, without its ending; `archive` where it isn't given.
    name: Option<String>,
}

/// Answers with a ZIP file of what the list names: each at the top, a folder with all that is in it. Two of one name get
/// numbers. Changes nothing.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/archive",
    request_body = Wanted,
    responses(
        (status = 200, description = "The file.", body = Vec<u8>, content_type = "application/zip", headers(
            ("ETag" = String), ("Content-Disposition" = String),
        )),
        (status = 409, description = "`contended`: the space keeps changing."),
        (status = 413, description = "`too_many_entries`; `body_too_large`."),
    ),
)]
pub(crate) async fn post<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let Wanted { paths, name } = body::read(upload).await?;
    let addresses = sources(&paths, &token, &space)?;
    let archive = archive::open(platform, Sources::Each(&addresses)).await?;
    let mut response = Response::new(archive.plan(platform, 0..archive.size_bytes).await?);
    describe(response.headers_mut(), &archive, name.as_deref().unwrap_or("archive"));
    Ok(response)
}

/// What a list names.
pub(super) fn sources(paths: &[String], token: &Token, space: &SpaceId) -> Result<Vec<Address>> {
    if !(1..=MAX_SOURCES).contains(&paths.len()) {
        return Err(Error::invalid("paths", format!("expected 1 to {MAX_SOURCES}")));
    }
    let address = |text: &String| {
        let (base, path) = if text.starts_with('/') {
            (None, path("paths", text)?)
        } else {
            let id = NodeId::parse(text).ok_or_else(|| {
                Error::invalid("paths", "expected an id, or a path that begins with a slash")
            })?;
            (Some(id), Path::default())
        };
        Ok(Address { token: token.clone(), space: space.clone(), base, path })
    };
    paths.iter().map(address).collect()
}
