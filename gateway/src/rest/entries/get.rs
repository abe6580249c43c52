//! GET and HEAD: a page of the entries, or the content of one.

use http::{Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::ids::VersionId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Timestamp};
use ledge_core::unzip::{self, Position};
use serde::Serialize;
use utoipa::ToSchema;

use super::read::read;
use crate::address::address;
use crate::headers::{quoted, rfc3339, set};
use crate::openapi::parameters::Page;
use crate::openapi::words;
use crate::rest::query::Query;
use crate::rest::{cursor, json};
use crate::routes::Matched;

/// A page of what is in a ZIP file.
#[derive(Serialize, ToSchema)]
struct Entries {
    /// How many entries the file says that it has.
    total: u64,
    entries: Vec<Entry>,
    #[schema(required)]
    next: Option<String>,
}

/// What the file's directory says of an entry.
#[derive(Serialize, ToSchema)]
#[schema(as = ArchiveEntry)]
struct Entry {
    /// What names it in this file.
    id: String,
    /// Its path, as the file has it: it may be anything.
    name: String,
    #[schema(value_type = words::Kind)]
    kind: &'static str,
    size_bytes: u64,
    /// The size that it has in the file.
    packed_bytes: u64,
    /// `stored`, `deflated`, or the number of another method.
    method: String,
    crc32: u32,
    is_encrypted: bool,
    #[schema(required, value_type = Option<words::Time>)]
    modified_at: Option<String>,
}

/// Lists what is in a ZIP file, in the order of its directory; with `entry`, answers with that entry's content.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/entries/{path}",
    params(
        Page,
        ("entry" = Option<String>, Query, description = "An entry's `id`: its content is the answer."),
        ("Range" = Option<String>, Header, description = "One range of an entry's content; several are answered with the whole."),
        ("If-Range" = Option<String>, Header, description = "The whole, unless the entry has this entity tag."),
        ("If-Match" = Option<String>, Header, description = "412 unless the entry has one of these entity tags."),
        ("If-None-Match" = Option<String>, Header, description = "304 if the entry has one of these entity tags."),
    ),
    responses(
        (status = 200, description = "A page of the entries, or the content.", content(
            (Entries = "application/json"), (Vec<u8> = "*/*"),
        ), headers(("ETag" = String))),
        (status = 206, description = "A part of the content.", body = Vec<u8>, content_type = "*/*",
            headers(("ETag" = String), ("Content-Range" = String))),
        (status = 304, description = "The entry hasn't changed.", headers(("ETag" = String))),
        (status = 409, description = "`is_a_folder`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 413, description = "`too_many_entries`: the content has more pieces than one answer can have. Ask for ranges."),
        (status = 416, description = "`range_not_satisfiable`: `Content-Range` has the size."),
        (status = 422, description = "`bad_archive`: it isn't a ZIP file, or is damaged; `entry_unsupported`: the entry is \
            encrypted, packed otherwise than by deflate, or packed and of more than 8 MiB."),
    ),
)]
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let query = Query::read(&matched.parts.uri, &["cursor", "entry", "limit"])?;
    if let Some(entry) = query.get("entry") {
        let at = entry.parse().map_err(|_| Error::invalid("entry", "expected an entry's id"))?;
        return read(platform, &address, matched.parts, at).await;
    }
    // Instead of a time, where the page begins.
    let (from, limit) = cursor::page(&query, VersionId::parse)?;
    let from = from.map(|(at, version)| Position { version, at: at.0.unsigned_abs() });
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let page = unzip::list(platform, &address, from.as_ref(), limit).await?;
    let next = page.next.map(|next| {
        cursor::after(Timestamp(i64::try_from(next.at).unwrap_or(i64::MAX)), next.version.as_str())
    });
    let entries = page.entries.into_iter().map(Entry::from).collect();
    let mut response = json(StatusCode::OK, &Entries { total: page.total, entries, next })?;
    set(response.headers_mut(), header::ETAG, quoted(&page.etag));
    Ok(response)
}

impl From<unzip::Entry> for Entry {
    fn from(entry: unzip::Entry) -> Self {
        Self {
            id: entry.at.to_string(),
            name: entry.name,
            kind: if entry.is_folder { "folder" } else { "file" },
            size_bytes: entry.size_bytes,
            packed_bytes: entry.packed_bytes,
            method: match entry.method {
                0 => "stored".to_owned(),
                8 => "deflated".to_owned(),
                other => other.to_string(),
            },
            crc32: entry.crc32,
            is_encrypted: entry.is_encrypted,
            modified_at: entry.modified_at.map(rfc3339),
        }
    }
}
