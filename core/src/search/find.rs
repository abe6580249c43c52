//! The search itself: one round trip.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use unicode_normalization::UnicodeNormalization;

use super::rank::rank;
use crate::auth::{self, Right};
use crate::error::{Error, Result};
use crate::folders::Only;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp, Value};
use crate::tree::{Address, walk};

/// The most hits of a page.
pub const MAX_LIMIT: u32 = 200;

/// So many of the newest matches are ranked against each other. Reading them with their paths takes the database some
/// 30 ms; ranking all matches in it takes as long for each 10,000.
const WINDOW: u64 = 500;

/// So many of the newest matches are looked at for a window: where most of them lie in other folders or fail the filters,
/// a page may hold fewer hits than were asked for, or none, and yet another one follows. Each takes the database some
/// microseconds, or some twenty if it has to be found out where it lies.
const MATCHES_READ: u64 = 5000;

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

/// The newest hits in the folder at the end of the walk, with their paths, among the newest matches of the name. A path
/// leads up to the space's root and passes the folder, or the match is no hit: it is in the trash, or elsewhere. Where
/// there may be older matches than those that were looked at, a row follows that has only the last one's key.
///
/// Folder and space are values and not tables to join: the index then gives the matches newest first, and the limits end
/// the reading. A materialised table is read in the order in which it was filled.
const MATCHES: &str = concat!(
    walk!(),
    ", folder (id) as materialized (select w.id from walk w where w.depth = ?3),
       newest (n) as materialized (
         select m.rowid from node_names m
          where m.rowid < ?5 and m.node_names match
                'space:\"' || (select printf('#%06x', s.n) from spaces s where s.id = ?1) || '\" AND name:' || ?4
          order by m.rowid desc limit ?13)
     select * from (select n.n, n.id, n.kind, n.modified_at, b.size_bytes, b.etag, b.media_type,
            (with recursive up (id, parent_id, name, height) as (
               select n.id, n.parent_id, n.name, 0
               union all
               select p.id, p.parent_id, p.name, up.height + 1 from up cross join nodes p
                where p.id = up.parent_id and p.trashed_at is null)
             select case when max(up.parent_id = '' and up.id = (select s.root_id from spaces s where s.id = ?1))
                          and max(up.id = (select folder.id from folder) and up.height > 0)
                    then json_group_array(up.name order by up.height desc) filter (where up.parent_id <> '') end
               from up) as path
       from newest
      cross join nodes n on n.n = newest.n
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      where n.trashed_at is null and n.space_id = ?1 and path is not null
        and (?6 is null or n.kind = ?6)
        and (?7 is null or substr(b.media_type, 1, length(?7)) = ?7)
        and (?8 is null or b.size_bytes >= ?8) and (?9 is null or b.size_bytes <= ?9)
        and (?10 is null or n.modified_at >= ?10) and (?11 is null or n.modified_at < ?11)
      limit ?12)
     union all
     select min(newest.n), null, null, null, null, null, null, null from newest having count(*) = ?13"
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
    let mut rows = rows();
    let looked_at = rows.pop_if(|row| matches!(row.value("id"), Some(Value::Null)));
    let mut hits = rows.iter().map(hit).collect::<Result<Vec<Hit>>>()?;
    // Stable: among equals the newest comes first.
    hits.sort_by_key(|hit| hit.path.last().map(|name| rank(name, &query)));

    let limit = search.limit as usize;
    let is_last_of_window = hits.len() <= skip + limit;
    let last_row = if rows.len() as u64 == WINDOW { rows.last() } else { looked_at.as_ref() };
    let next = if is_last_of_window {
        last_row.map(|row| Ok::<_, Error>(write_cursor(row.unsigned("n")?, 0))).transpose()?
    } else {
        Some(write_cursor(below, skip + limit))
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
        .bind(MATCHES_READ)
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

fn hit(row: &Row) -> Result<Hit> {
    Ok(Hit {
        id: row.text("id")?.to_owned(),
        kind: row.text("kind")?.to_owned(),
        path: manifest::from_json(row.text("path")?)?,
        size_bytes: row.integer_or_null("size_bytes")?,
        etag: row.text_or_null("etag")?.map(str::to_owned),
        media_type: row.text_or_null("media_type")?.map(str::to_owned),
        modified_at: Timestamp(row.integer("modified_at")?),
    })
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
