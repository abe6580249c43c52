//! GET of a search.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Timestamp};
use ledge_core::search::{self, Hit, MAX_LIMIT, Search};
use serde::Serialize;

use crate::address::folder_address;
use crate::headers::{parse_rfc3339, quoted, rfc3339};
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// The page size where none is asked for.
const DEFAULT_LIMIT: u32 = 50;

const PARAMETERS: [&str; 9] = [
    "q",
    "kind",
    "media_type",
    "min_bytes",
    "max_bytes",
    "modified_from",
    "modified_before",
    "limit",
    "cursor",
];

#[derive(Serialize)]
struct Page {
    hits: Vec<Item>,
    next: Option<String>,
}

#[derive(Serialize)]
struct Item {
    id: String,
    kind: String,
    path: Vec<String>,
    size_bytes: Option<i64>,
    etag: Option<String>,
    media_type: Option<String>,
    modified_at: String,
}

impl From<Hit> for Item {
    fn from(hit: Hit) -> Self {
        Self {
            id: hit.id,
            kind: hit.kind,
            path: hit.path,
            size_bytes: hit.size_bytes,
            etag: hit.etag.as_deref().map(quoted),
            media_type: hit.media_type,
            modified_at: rfc3339(hit.modified_at),
        }
    }
}

/// Searches a folder and all below it.
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let uri = &matched.parts.uri;
    let address = folder_address(matched)?;
    let query = Query::read(uri, &PARAMETERS)?;
    let found = search::search(platform, &address, &read(&query)?).await?;
    json(StatusCode::OK, &Page { hits: found.hits.into_iter().map(Item::from).collect(), next: found.next })
}

fn read(query: &Query<'_>) -> Result<Search> {
    Ok(Search {
        query: query.get("q").ok_or_else(|| Error::invalid("q", "say what to search"))?.to_owned(),
        only: query.kind()?,
        media_type: query.get("media_type").map(str::to_owned),
        min_bytes: bytes(query, "min_bytes")?,
        max_bytes: bytes(query, "max_bytes")?,
        modified_from: time(query, "modified_from")?,
        modified_before: time(query, "modified_before")?,
        limit: query.limit(DEFAULT_LIMIT, MAX_LIMIT)?,
        cursor: query.get("cursor").map(str::to_owned),
    })
}

fn bytes(query: &Query<'_>, name: &'static str) -> Result<Option<u64>> {
    let parse = |text: &str| text.parse().map_err(|_| Error::invalid(name, "expected a number of bytes"));
    query.get(name).map(parse).transpose()
}

fn time(query: &Query<'_>, name: &'static str) -> Result<Option<Timestamp>> {
    let parse =
        |text: &str| parse_rfc3339(text).ok_or_else(|| Error::invalid(name, "expected an RFC 3339 time"));
    query.get(name).map(parse).transpose()
}
