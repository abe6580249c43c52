//! GET of a search.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Timestamp};
use ledge_core::search::{self, Hit, MAX_LIMIT, Search};
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::folder_address;
use crate::headers::{parse_rfc3339, quoted, rfc3339};
use crate::openapi::words::{Kind, Time};
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

/// A page of hits.
#[derive(Serialize, ToSchema)]
#[schema(as = SearchPage)]
struct Page {
    hits: Vec<Item>,
    #[schema(required)]
    next: Option<String>,
}

/// What was found.
#[derive(Serialize, ToSchema)]
#[schema(as = Hit)]
struct Item {
    id: String,
    #[schema(value_type = Kind)]
    kind: String,
    path: Vec<String>,
    #[schema(required, value_type = Option<u64>)]
    size_bytes: Option<i64>,
    #[schema(required)]
    etag: Option<String>,
    #[schema(required)]
    media_type: Option<String>,
    #[schema(value_type = Time)]
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
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/search/{path}",
    params(
        ("q" = String, Query, min_length = 1, max_length = 255, description = "What the names hold: up to 255 bytes."),
        ("kind" = Option<Kind>, Query, description = "Only these."),
        ("media_type" = Option<String>, Query, description = "What the media type begins with."),
        ("min_bytes" = Option<u64>, Query, description = "Only files of at least this size."),
        ("max_bytes" = Option<u64>, Query, description = "Only files of at most this size."),
        ("modified_from" = Option<Time>, Query, description = "Changed then or later."),
        ("modified_before" = Option<Time>, Query, description = "Changed before."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 200, description = "50 where it isn't given."),
        ("cursor" = Option<String>, Query, description = "The last page's `next`."),
    ),
    responses(
        (status = 200, description = "A page of hits, the best first.", body = Page),
        (status = 409, description = "`not_a_folder`."),
    ),
)]
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
