//! GET of the trash: what was deleted, newest first.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::trash::{self, MAX_LIMIT, Trashed};
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::headers::rfc3339;
use crate::openapi::words::{Kind, Time};
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// The page size where none is asked for.
const DEFAULT_LIMIT: u32 = 200;

/// A page of the trash.
#[derive(Serialize, ToSchema)]
#[schema(as = TrashPage)]
struct Page {
    entries: Vec<Entry>,
    #[schema(required)]
    next: Option<String>,
}

/// What was deleted.
#[derive(Serialize, ToSchema)]
#[schema(as = TrashEntry)]
struct Entry {
    id: String,
    name: String,
    #[schema(value_type = Kind)]
    kind: &'static str,
    #[schema(required)]
    size_bytes: Option<u64>,
    #[schema(value_type = Time)]
    trashed_at: String,
    #[schema(required)]
    parent_id: Option<String>,
}

/// A page of what was deleted.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/trash",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "200 where it isn't given."),
        ("cursor" = Option<String>, Query, description = "The last page's `next`."),
    ),
    responses((status = 200, description = "A page of the trash, newest first.", body = Page)),
)]
pub(crate) async fn list<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    let query = Query::read(&matched.parts.uri, &["limit", "cursor"])?;
    let limit = match query.get("limit") {
        None => DEFAULT_LIMIT,
        Some(text) => {
            let limit = text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
            limit.ok_or_else(|| Error::invalid("limit", format!("expected 1 to {MAX_LIMIT}")))?
        }
    };
    let page = trash::list(platform, &token, &space, limit, query.get("cursor")).await?;
    let entries = page.entries.into_iter().map(Entry::from).collect();
    json(StatusCode::OK, &Page { entries, next: page.next })
}

impl From<Trashed> for Entry {
    fn from(trashed: Trashed) -> Self {
        Self {
            id: trashed.id.to_string(),
            name: trashed.name,
            kind: if trashed.is_folder { "folder" } else { "file" },
            size_bytes: trashed.size_bytes,
            trashed_at: rfc3339(trashed.trashed_at),
            parent_id: trashed.parent.map(|id| id.to_string()),
        }
    }
}
