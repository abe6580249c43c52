//! GET of what changed since a cursor, or the cursor to begin with.

use http::{Response, StatusCode};
use ledge_core::changes::{self, Change, Follow, MAX_LIMIT, MAX_WAIT_SECS};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::headers::rfc3339;
use crate::openapi::words::{self, Kind, Time};
use crate::rest::entry::Entry;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// The page size where none is asked for.
const DEFAULT_LIMIT: u32 = 200;

/// A part of the feed.
#[derive(Serialize, ToSchema)]
#[schema(as = ChangesPage)]
struct Page {
    /// The oldest first.
    changes: Vec<Changed>,
    /// What to ask with as `since` next.
    cursor: String,
    /// Whether there are more already.
    more: bool,
}

/// A node that a commit changed.
#[derive(Serialize, ToSchema)]
#[schema(as = Change)]
struct Changed {
    /// The commit's number; commits that change several nodes have several changes.
    seq: u64,
    #[schema(value_type = Time)]
    at: String,
    #[schema(value_type = words::Change)]
    change: &'static str,
    id: String,
    #[schema(value_type = Kind)]
    kind: &'static str,
    /// Whether all that is below the node is meant as well.
    subtree: bool,
    /// The folder that it was in, of what was moved or deleted.
    #[schema(required)]
    from_parent_id: Option<String>,
    /// The node as it is now, or null where it isn't there any more.
    #[schema(required)]
    node: Option<Entry>,
}

/// What changed after the cursor, and where to go on.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/changes",
    params(
        ("since" = Option<String>, Query, description = "The last answer's `cursor`; without it, nothing but where the feed ends now."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "200 where it isn't given."),
        ("wait" = Option<u32>, Query, minimum = 0, maximum = 25, description = "How many seconds to wait for a change where there is none."),
    ),
    responses(
        (status = 200, description = "What changed, in the order of the commits.", body = Page),
        (status = 410, description = "`resync`: what changed since isn't kept any more."),
    ),
)]
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    let query = Query::read(&matched.parts.uri, &["since", "limit", "wait"])?;
    let request = Follow {
        token,
        space,
        since: query.get("since").map(str::to_owned),
        limit: query.limit(DEFAULT_LIMIT, MAX_LIMIT)?,
        wait_secs: wait(&query)?,
    };
    let page = changes::follow(platform, &request).await?;
    let changes = page.changes.into_iter().map(Changed::from).collect();
    json(StatusCode::OK, &Page { changes, cursor: page.cursor, more: page.more })
}

fn wait(query: &Query<'_>) -> Result<u32> {
    let Some(text) = query.get("wait") else { return Ok(0) };
    let wait = text.parse().ok().filter(|wait| *wait <= MAX_WAIT_SECS);
    wait.ok_or_else(|| Error::invalid("wait", format!("expected 0 to {MAX_WAIT_SECS} seconds")))
}

impl From<Change> for Changed {
    fn from(change: Change) -> Self {
        Self {
            seq: change.seq,
            at: rfc3339(change.at),
            change: change.what.name(),
            id: change.id.to_string(),
            kind: if change.is_folder { "folder" } else { "file" },
            subtree: change.subtree,
            from_parent_id: change.from.map(|id| id.to_string()),
            node: change.node.map(Entry::from),
        }
    }
}
