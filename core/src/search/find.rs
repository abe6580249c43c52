//! The search itself: one round trip.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use unicode_normalization::UnicodeNormalization;

use super::rank::rank;
use crate::auth::{self, Right};
use crate::error::{Error, Result};
use crate::folders::Only;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::tree::{Address, walk};

/// The most hits of a page.
pub const MAX_LIMIT: u32 = 200;

/// So many of the newest matches are ranked against each other. Reading them with their paths takes the database some
/// 30 ms; ranking all matches in it takes as long for each 10,000.
const WINDOW: u64 = 500;

/// What a name can hold at most; a longer query finds nothing.
const MAX_QUERY_BYTES: usize = 255;

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// What the name must hold.
    pub query: String,
    /// Only folders, or only files.
    pub only: Option<Only>,
    /// What the media type must begin with, `image/` say.
    pub media_type: Option<String>,
    /// The smallest size.
    pub min_bytes: Option<u64>,
    /// The largest size.
    pub max_bytes: Option<u64>,
    /// Changed at this time or later.
    pub modified_from: Option<Timestamp>,
    /// Changed before this time.
    pub modified_before: Option<Timestamp>,
    /// The most hits, 1 to [`MAX_LIMIT`].
    pub limit: u32,
    /// Where the page begins: the last one's `next`.
    pub cursor: Option<String>,
}

/// A page of hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Where the next page begins; None at the end.
    pub next: Option<String>,
}

/// A node whose name matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The node's id.
    pub id: String,
    /// `file` or `folder`.
    pub kind: String,
    /// The names from the space's root to it.
    pub path: Vec<String>,
    /// A file's size.
    pub size_bytes: Option<i64>,
    /// A file's entity tag, without quotes.
    pub etag: Option<String>,
    /// A file's media type.
    pub media_type: Option<String>,
    /// When it changed.
    pub modified_at: Timestamp,
}

/// The newest matches in the folder at the end of the walk, with their paths. A path leads up to the space's root
/// and passes the folder, or the match is no hit: it is in the trash, or elsewhere.
const MATCHES: &str = concat!(
    walk!(),
    "select n.n, n.id, n.kind, n.modified_at, b.size_bytes, b.etag, b.media_type,
            (with recursive up (id, parent_id, name, height) as (
               select n.id, n.parent_id, n.name, 0
               union all
               select p.id, p.parent_id, p.name, up.height + 1 from up cross join nodes p
                where p.id = up.parent_id and p.trashed_at is null)
             select case when max(up.parent_id = '' and up.id = s.root_id) and max(up.id = w.id and up.height > 0)
                    then json_group_array(up.name order by up.height desc) filter (where up.parent_id <> '') end
               from up) as path
       from walk w
      cross join spaces s on s.id = ?1
      cross join node_names m on m.rowid < ?5
             and m.node_names match 'space:\"' || printf('#%06x', s.n) || '\" AND name:' || ?4
      cross join nodes n on n.n = m.rowid
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      where w.depth = ?3 and n.trashed_at is null and n.space_id = ?1
        and (?6 is null or n.kind = ?6)
        and (?7 is null or substr(b.media_type, 1, length(?7)) = ?7)
        and (?8 is null or b.size_bytes >= ?8) and (?9 is null or b.size_bytes <= ?9)
        and (?10 is null or n.modified_at >= ?10) and (?11 is null or n.modified_at < ?11)
      order by m.rowid desc limit ?12"
);

/// Searches the folder at the address and all below it.
pub async fn search<P: Platform>(platform: &P, address: &Address, search: &Search) -> Result<Found> {
    let query: String = search.query.nfc().collect();
    if query.is_empty() || query.len() > MAX_QUERY_BYTES {
        return Err(Error::invalid("q", format!("expected 1 to {MAX_QUERY_BYTES} bytes")));
    }
    let (below, skip) = search.cursor.as_deref().map_or(Ok((1 << 53, 0)), read_cursor)?;
    let now = platform.host().now();
    let batch = vec![
        auth::look_up_at(address, now),
        crate::tree::resolve(address),
        matches(address, search, &query, below),
    ];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise(rows().first(), Right::Read)?;
    crate::tree::Resolved::existing(&rows(), address)?;
    let rows = rows();
    let mut hits = rows.iter().filter_map(|row| hit(row).transpose()).collect::<Result<Vec<Hit>>>()?;
    // Stable: among equals the newest comes first.
    hits.sort_by_key(|hit| hit.path.last().map(|name| rank(name, &query)));

    let limit = search.limit as usize;
    let is_last_of_window = hits.len() <= skip + limit;
    let next = if !is_last_of_window {
        Some(write_cursor(below, skip + limit))
    } else if rows.len() as u64 == WINDOW {
        let oldest = rows.last().map(|row| row.unsigned("n")).transpose()?;
        oldest.map(|oldest| write_cursor(oldest, 0))
    } else {
        None
    };
    Ok(Found { hits: hits.into_iter().skip(skip).take(limit).collect(), next })
}

fn matches(address: &Address, search: &Search, query: &str, below: u64) -> Statement {
    let only = search.only.map(|only| match only {
        Only::Folders => "folder",
        Only::Files => "file",
    });
    Statement::new(MATCHES)
        .bind(&address.space)
        .bind(address.way())
        .bind(address.path.depth() as u64)
        .bind(phrase(query))
        .bind(below)
        .bind(only)
        .bind(search.media_type.as_deref())
        .bind(search.min_bytes)
        .bind(search.max_bytes)
        .bind(search.modified_from.map(|time| time.0))
        .bind(search.modified_before.map(|time| time.0))
        .bind(WINDOW)
}

/// The query as a phrase of the index: one or two characters find beginnings, by the marks that stand before each name.
fn phrase(query: &str) -> String {
    let marks = match query.chars().count() {
        1 => "\u{2}\u{2}",
        2 => "\u{2}",
        _ => "",
    };
    format!("\"{marks}{}\"", query.replace('"', "\"\""))
}

/// None where the match is not below the folder or not living.
fn hit(row: &Row) -> Result<Option<Hit>> {
    let Some(path) = row.text_or_null("path")? else { return Ok(None) };
    Ok(Some(Hit {
        id: row.text("id")?.to_owned(),
        kind: row.text("kind")?.to_owned(),
        path: manifest::from_json(path)?,
        size_bytes: row.integer_or_null("size_bytes")?,
        etag: row.text_or_null("etag")?.map(str::to_owned),
        media_type: row.text_or_null("media_type")?.map(str::to_owned),
        modified_at: Timestamp(row.integer("modified_at")?),
    }))
}

/// A cursor names its window by the row before it, and how many of its hits have been seen.
fn write_cursor(below: u64, skip: usize) -> String {
    URL_SAFE_NO_PAD.encode(format!("[{below},{skip}]"))
}

fn read_cursor(cursor: &str) -> Result<(u64, usize)> {
    let decoded = URL_SAFE_NO_PAD.decode(cursor).ok();
    decoded
        .and_then(|text| serde_json::from_slice::<(u64, usize)>(&text).ok())
        .filter(|(below, skip)| *below <= 1 << 53 && *skip as u64 <= WINDOW)
        .ok_or_else(|| Error::invalid("cursor", "not a cursor of a search: begin again without one"))
}
