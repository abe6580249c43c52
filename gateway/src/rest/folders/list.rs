//! GET of a folder: what is in it, a page at a time.

use http::{Response, StatusCode, header};
use ledge_core::digest::Sha256;
use ledge_core::error::{Error, Result};
use ledge_core::folders::{self, Listing, MAX_LIMIT, Sort};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Folder;
use crate::address::folder_address;
use crate::headers::{quoted, set};
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// The page size where none is asked for.
const DEFAULT_LIMIT: u32 = 200;

/// A page of a folder.
#[derive(Serialize)]
struct Page<'a> {
    folder: Folder<'a>,
    entries: &'a RawValue,
    next: Option<&'a str>,
}

/// Lists a folder.
pub(crate) async fn list<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let uri = &matched.parts.uri;
    let address = folder_address(matched)?;
    let listing = listing(&Query::read(uri, &["limit", "sort", "order", "kind", "cursor"])?)?;
    let page = folders::list(platform, &address, &listing).await?;
    let entries: &RawValue = serde_json::from_str(&page.entries)
        .map_err(|error| Error::Internal(format!("a page that isn't JSON: {error}")))?;
    let body = Page { folder: Folder::new(&page.folder, &address), entries, next: page.next.as_deref() };
    let mut response = json(StatusCode::OK, &body)?;
    set(response.headers_mut(), header::ETAG, quoted(&Sha256::of(page.entries.as_bytes()).to_string()));
    Ok(response)
}

fn listing(query: &Query<'_>) -> Result<Listing> {
    let limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT)?;
    let sort = match query.get("sort") {
        None | Some("name") => Sort::Name,
        Some("size") => Sort::Size,
        Some("modified_at") => Sort::ModifiedAt,
        Some(_) => return Err(Error::invalid("sort", "expected name, size or modified_at")),
    };
    let descending = match query.get("order") {
        None | Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(Error::invalid("order", "expected asc or desc")),
    };
    Ok(Listing {
        limit,
        sort,
        descending,
        only: query.kind()?,
        cursor: query.get("cursor").map(str::to_owned),
    })
}
