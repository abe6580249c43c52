//! The history of a file, newest first.

use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::{AccountId, VersionId};
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::tree::{Address, Kind, Resolved, id, resolve, walk};

/// One saved state, as the history shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: VersionId,
    /// Whether it is the file's current one.
    pub current: bool,
    /// The name that it was given.
    pub label: Option<String>,
    /// Whose request made it.
    pub author: AccountId,
    /// When it was saved.
    pub created_at: Timestamp,
    /// The modification time of its content.
    pub modified_at: Timestamp,
    /// The content's size.
    pub size_bytes: u64,
    /// The content's entity tag, without quotes.
    pub etag: String,
    /// The content's media type.
    pub media_type: String,
}

/// A part of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The versions, newest first.
    pub versions: Vec<Entry>,
    /// Whether older ones follow.
    pub more: bool,
}

/// At most ?6 versions of the file at the end of the walk that are older than (?4, ?5).
const HISTORY: &str = concat!(
    walk!(),
    "select v.id, v.id = (select n.version_id from nodes n where n.id = v.node_id) as current, v.label,
            v.author_id, v.created_at, v.modified_at, b.size_bytes, b.etag, b.media_type
       from versions v cross join blobs b on b.id = v.blob_id
      where v.node_id = (select w.id from walk w where w.depth = ?3)
        and (v.created_at, v.id) < (?4, ?5)
      order by v.created_at desc, v.id desc limit ?6"
);

/// Lists versions that are older than `after`, at most `limit`. One round trip.
pub async fn list<P: Platform>(
    platform: &P,
    address: &Address,
    after: Option<(Timestamp, VersionId)>,
    limit: u64,
) -> Result<Page> {
    let (time, last) = match &after {
        Some((time, id)) => (*time, id.as_str()),
        // Later than any: 2^53, and what follows every id.
        None => (Timestamp(1 << 53), "~"),
    };
    let history = Statement::new(HISTORY)
        .bind(&address.space)
        .bind(address.way())
        .bind(address.path.depth() as u64)
        .bind(time)
        .bind(last)
        .bind(limit.saturating_add(1));
    let look_up = auth::look_up_at(address, platform.host().now());
    let mut results = platform.db().read(vec![look_up, resolve(address), history]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise(rows().first(), Right::Read)?;
    if Resolved::existing(&rows(), address)?.kind == Kind::Folder {
        return Err(Error::Conflict(Conflict::IsAFolder));
    }
    let mut versions = rows().iter().map(entry).collect::<Result<Vec<_>>>()?;
    let more = versions.len() as u64 > limit;
    versions.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Page { versions, more })
}

/// Reads a row of the history.
pub(super) fn entry(row: &Row) -> Result<Entry> {
    Ok(Entry {
        id: id(row, "id", VersionId::parse)?,
        current: row.integer("current")? == 1,
        label: row.text_or_null("label")?.map(str::to_owned),
        author: id(row, "author_id", AccountId::parse)?,
        created_at: Timestamp(row.integer("created_at")?),
        modified_at: Timestamp(row.integer("modified_at")?),
        size_bytes: row.unsigned("size_bytes")?,
        etag: row.text("etag")?.to_owned(),
        media_type: row.text("media_type")?.to_owned(),
    })
}
