//! Listing the trash, newest first.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::auth::{self, Right};
use crate::error::{Error, Result};
use crate::ids::{NodeId, SpaceId};
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;

/// The most entries of a page.
pub const MAX_LIMIT: u32 = 1000;

/// A deleted node: the top of what was deleted with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// Its id.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// A file's size.
    pub size_bytes: Option<u64>,
    /// When it was deleted.
    pub trashed_at: Timestamp,
    /// The folder that it was in.
    pub parent: Option<NodeId>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The newest first. For a token that is limited to a folder there may be fewer than the limit, even none, before
    /// the end.
    pub entries: Vec<Trashed>,
    /// Where the next page begins; None at the end.
    pub next: Option<String>,
}

/// One row more than the page has, whether they are for this token or not: what a page reads is bounded.
const ROWS: &str = concat!(
    "select n.id, n.name, n.kind, n.trashed_at, n.trashed_from, b.size_bytes, ",
    was_in_scope!("?5"),
    " as is_reached
       from nodes n
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      where n.space_id = ?1 and n.trashed_at is not null and (n.trashed_at, n.id) < (?2, ?3)
        and n.trashed_at > (select coalesce(?6 - s.trash_days * 86400000, -1) from spaces s where s.id = ?1)
      order by n.trashed_at desc, n.id desc limit ?4"
);

/// Lists the trash of a space, as far as the token reaches. One round trip.
pub async fn list<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    limit: u32,
    cursor: Option<&str>,
) -> Result<Page> {
    // Later than every time, so that the first page needs no statement of its own.
    let (before, id) = cursor.map_or(Ok((1 << 53, String::new())), read_cursor)?;
    let now = platform.host().now();
    let page = Statement::new(ROWS)
        .bind(space)
        .bind(before)
        .bind(id)
        .bind(i64::from(limit) + 1)
        .bind(token.hash().to_string())
        .bind(now);
    let batch = vec![auth::look_up_nodes(token, space, now), page];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise(rows().first(), Right::Read)?;
    let mut rows = rows();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = match rows.last().filter(|_| more) {
        Some(last) => {
            let cursor = manifest::to_json(&("trash", last.integer("trashed_at")?, last.text("id")?))?;
            Some(URL_SAFE_NO_PAD.encode(cursor))
        }
        None => None,
    };
    let mut entries = Vec::with_capacity(rows.len());
    for row in &rows {
        if row.integer("is_reached")? == 1 {
            entries.push(trashed(row)?);
        }
    }
    Ok(Page { entries, next })
}

fn read_cursor(cursor: &str) -> Result<(i64, String)> {
    let invalid = || Error::invalid("cursor", "not a cursor of this listing: begin again without one");
    let text = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    let (kind, before, id): (String, i64, String) = serde_json::from_slice(&text).map_err(|_| invalid())?;
    if kind != "trash" {
        return Err(invalid());
    }
    Ok((before, id))
}

fn trashed(row: &Row) -> Result<Trashed> {
    let id = NodeId::parse(row.text("id")?)
        .ok_or_else(|| Error::Internal("a node's id is malformed".to_owned()))?;
    let size_bytes = row.integer_or_null("size_bytes")?.and_then(|size| u64::try_from(size).ok());
    Ok(Trashed {
        id,
        name: row.text("name")?.to_owned(),
        is_folder: row.text("kind")? == "folder",
        size_bytes,
        trashed_at: Timestamp(row.integer("trashed_at")?),
        parent: row.text_or_null("trashed_from")?.and_then(NodeId::parse),
    })
}
