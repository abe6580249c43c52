//! GET of a folder: what is in it, a page at a time.

use http::{Response, StatusCode, header};
use ledge_core::conditions::{Conditions, Current, Verdict};
use ledge_core::error::{Error, Result};
use ledge_core::folders::{self, Listing, MAX_LIMIT, Sort};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::tree::Address;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::Folder;
use crate::address::folder_address;
use crate::headers::{conditions, quoted, set};
use crate::openapi::words::{self, Kind, Order, Time};
use crate::rest::query::Query;
use crate::rest::{json, no_content};
use crate::routes::Matched;

/// The page size where none is asked for.
const DEFAULT_LIMIT: u32 = 200;

/// A page of a folder.
#[derive(Serialize, ToSchema)]
#[schema(as = FolderPage)]
struct Page<'a> {
    folder: Folder<'a>,
    #[schema(value_type = Vec<Entry>)]
    entries: &'a RawValue,
    next: Option<&'a str>,
}

/// What is in a folder. The database makes the JSON.
#[derive(ToSchema)]
#[schema(as = FolderEntry)]
#[expect(dead_code, reason = "only described")]
struct Entry {
    id: String,
    name: String,
    #[schema(value_type = Kind)]
    kind: (),
    #[schema(required)]
    size_bytes: Option<u64>,
    etag: String,
    #[schema(required)]
    media_type: Option<String>,
    #[schema(value_type = Time)]
    created_at: (),
    #[schema(value_type = Time)]
    modified_at: (),
    #[schema(required)]
    version_id: Option<String>,
    /// With `sizes=true`; null for a file.
    sizes: Option<Sizes>,
}

/// What is below a folder.
#[derive(ToSchema)]
#[schema(as = Sizes)]
#[expect(dead_code, reason = "only described")]
pub(super) struct Sizes {
    /// How many files and folders.
    nodes: u64,
    /// The bytes of their current versions.
    bytes: u64,
    /// The bytes of their older versions.
    older_bytes: u64,
    /// Whether there are more than 200,000 nodes below the listed folder: then these are what was counted until then.
    incomplete: bool,
}

/// Lists a folder.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/folders/{path}",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "200 where it isn't given."),
        ("sort" = Option<words::Sort>, Query, description = "What they are ordered by; by name where it isn't given."),
        ("order" = Option<Order>, Query, description = "Which way; `asc` where it isn't given."),
        ("kind" = Option<Kind>, Query, description = "Only these."),
        ("cursor" = Option<String>, Query, description = "The last page's `next`."),
        ("sizes" = Option<bool>, Query, description = "Whether to count what is below the folder and each folder in it."),
        ("If-Match" = Option<String>, Header, description = "412 unless the folder has one of these entity tags."),
        ("If-None-Match" = Option<String>, Header, description = "304 if the folder has one of these entity tags."),
    ),
    responses(
        (status = 200, description = "A page of the folder.", body = Page, headers(("ETag" = String))),
        (status = 304, description = "Nothing below the folder has changed.", headers(("ETag" = String))),
        (status = 409, description = "`not_a_folder`."),
        (status = 412, description = "`precondition_failed`."),
    ),
)]
pub(crate) async fn list<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (uri, headers) = (&matched.parts.uri, &matched.parts.headers);
    let address = folder_address(matched)?;
    let listing = listing(&Query::read(uri, &["limit", "sort", "order", "kind", "cursor", "sizes"])?)?;
    let page = folders::list(platform, &address, &listing).await?;
    // The folder's tag, whatever the query: all that any page shows is in it or below it.
    let etag = page.folder.etag();
    let current = Current { etag: Some(&etag), modified_at: page.folder.modified_at };
    // A date says nothing of what changed further below.
    let conditions = Conditions { if_modified_since_secs: None, ..conditions(headers) };
    let mut response = match conditions.evaluate(Some(current), true) {
        Verdict::Failed => return Err(Error::PreconditionFailed),
        Verdict::NotModified => {
            let mut response = no_content();
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        Verdict::Proceed => json(StatusCode::OK, &body(&page, &address)?)?,
    };
    set(response.headers_mut(), header::ETAG, quoted(&etag));
    Ok(response)
}

fn body<'a>(page: &'a folders::Page, address: &'a Address) -> Result<Page<'a>> {
    let sizes = page.sizes.as_deref().map(raw).transpose()?;
    let folder = Folder { sizes, ..Folder::new(&page.folder, address) };
    Ok(Page { folder, entries: raw(&page.entries)?, next: page.next.as_deref() })
}

fn raw(text: &str) -> Result<&RawValue> {
    serde_json::from_str(text).map_err(|error| Error::Internal(format!("a page that isn't JSON: {error}")))
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
        sizes: query.is_true("sizes")?,
    })
}
