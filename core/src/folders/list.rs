//! Listing a folder, a page at a time.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::sizes::{self, sizes};
use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::ports::{Db, Host, Platform, Statement, Value};
use crate::tree::{Address, Kind, Node, Resolved, resolve, walk};

/// The most entries of a page: its JSON stays below the 2 MB that a database hands over in one piece.
pub const MAX_LIMIT: u32 = 1000;

/// Which entries, in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The most entries, 1 to [`MAX_LIMIT`].
    pub limit: u32,
    /// What they are ordered by; ties by id.
    pub sort: Sort,
    /// The largest first.
    pub descending: bool,
    /// Only folders, or only files.
    pub only: Option<Only>,
    /// Where the page begins: the last one's `next`.
    pub cursor: Option<String>,
    /// Whether to count what is below the folder and each folder in it.
    pub sizes: bool,
}

/// What entries are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// The bytes of the name's NFC form.
    Name,
    /// The size; folders have none and are smaller than any file.
    Size,
    /// The modification time.
    ModifiedAt,
}

/// One kind of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Folders.
    Folders,
    /// Files.
    Files,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The folder.
    pub folder: Node,
    /// The entries: a JSON array of objects, made by the database, which is twice as fast as handing over rows.
    pub entries: String,
    /// What is below the folder, as JSON, where it was asked for.
    pub sizes: Option<String>,
    /// Where the next page begins; None at the end.
    pub next: Option<String>,
}

/// Lists the folder at the address. One round trip.
pub async fn list<P: Platform>(platform: &P, address: &Address, listing: &Listing) -> Result<Page> {
    let now = platform.host().now();
    let batch = vec![auth::look_up_at(address, now), resolve(address), entries(address, listing)?];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise(rows().first(), Right::Read)?;
    let folder = Resolved::existing(&rows(), address)?;
    if let Kind::File(_) = folder.kind {
        return Err(Error::Conflict(Conflict::NotAFolder));
    }
    let rows = rows();
    let row = rows.first().ok_or_else(|| Error::Internal("a listing without a row".to_owned()))?;
    let next = row.text_or_null("last_id")?.map(|id| write_cursor(listing, row.value("last_key"), id));
    let sizes = row.text_or_null("sizes")?.map(str::to_owned);
    Ok(Page { folder, entries: row.text("entries")?.to_owned(), sizes, next })
}

fn entries(address: &Address, listing: &Listing) -> Result<Statement> {
    let key = match listing.sort {
        Sort::Name => "n.name_nfc",
        Sort::Size => "coalesce(b.size_bytes, -1)",
        Sort::ModifiedAt => "n.modified_at",
    };
    let (beyond, direction) = if listing.descending { ("<", "desc") } else { (">", "asc") };
    let only = match listing.only {
        None => "",
        Some(Only::Folders) => "and n.kind = 'folder'",
        Some(Only::Files) => "and n.kind = 'file'",
    };
    // Names are unique in a folder: the index gives their order, and the id would only spoil it.
    let (after, order) = match listing.sort {
        Sort::Name => (format!("{key} {beyond} ?5"), format!("{key} {direction}")),
        _ => (format!("({key}, n.id) {beyond} (?5, ?6)"), format!("{key} {direction}, n.id {direction}")),
    };
    let (last_key, last_id) = match &listing.cursor {
        Some(cursor) => read_cursor(listing, cursor)?,
        None => (Value::Null, Value::Null),
    };
    // Without a cursor the condition is left out, so that the index is used in either case.
    let after = if listing.cursor.is_some() { format!("and {after}") } else { String::new() };
    // The size stands with the content; what else orders entries is in the node itself.
    let content = match listing.sort {
        Sort::Size => "left join versions v on v.id = n.version_id left join blobs b on b.id = v.blob_id",
        Sort::Name | Sort::ModifiedAt => "",
    };
    // The folder is one value and not a table to join, so that the index on names gives their order and the page ends
    // the reading. In another order the folder's nodes are all looked at, but only the page's are made entries of.
    let page = format!(
        "(select n.n as n, {key} as key from nodes n {content}
           where n.parent_id = (select w.id from walk w where w.depth = ?3) and n.trashed_at is null {only} {after}
           order by {order} limit ?4 + 1)"
    );
    let (counted, page, of_entry, join, of_folder) = if listing.sizes {
        let counted = format!(", page (n, key) as materialized {page} {}", sizes!());
        let join = "left join sizes z on z.top = n.id";
        (counted, "page", sizes::OF_ENTRY, join, sizes::OF_FOLDER)
    } else {
        (String::new(), page.as_str(), "", "", "null")
    };
    let sql = format!(
        "{walk} {counted} select {of_folder} as sizes, coalesce(json_group_array(json(entry) order by place) filter (where place <= ?4), '[]') as entries,
                max(case when place = ?4 and more then id end) as last_id,
                max(case when place = ?4 and more then key end) as last_key
           from (select n.id as id, p.key as key, row_number() over () as place, count(*) over () > ?4 as more,
                        json_object(
                    'id', n.id, 'name', n.name, 'kind', n.kind, 'size_bytes', b.size_bytes,
                    'etag', '\"' || coalesce(b.etag, n.id || '-' || n.changed_seq) || '\"', 'media_type', b.media_type,
                    'created_at', {created_at}, 'modified_at', {modified_at}, 'version_id', n.version_id {of_entry}) as entry
               from {page} p
              cross join nodes n on n.n = p.n
               left join versions v on v.id = n.version_id
               left join blobs b on b.id = v.blob_id {join})",
        walk = walk!(),
        created_at = rfc3339("n.created_at"),
        modified_at = rfc3339("n.modified_at"),
    );
    let statement = Statement::new(sql)
        .bind(&address.space)
        .bind(address.way())
        .bind(address.path.depth() as u64)
        .bind(i64::from(listing.limit));
    Ok(match (listing.cursor.is_some(), listing.sort) {
        (false, _) => statement,
        (true, Sort::Name) => statement.bind(last_key),
        (true, _) => statement.bind(last_key).bind(last_id),
    })
}

/// SQL that writes milliseconds as RFC 3339.
fn rfc3339(column: &str) -> String {
    format!(
        "strftime('%Y-%m-%dT%H:%M:%S', {column} / 1000, 'unixepoch') || printf('.%03dZ', {column} % 1000)"
    )
}

/// A cursor says what it continues, so that it can't be taken for another order's.
fn write_cursor(listing: &Listing, last_key: Option<&Value>, last_id: &str) -> String {
    let key = match last_key {
        Some(Value::Text(text)) => serde_json::Value::from(text.as_str()),
        Some(Value::Integer(number)) => serde_json::Value::from(*number),
        Some(Value::Real(number)) => serde_json::Value::from(*number),
        Some(Value::Null) | None => serde_json::Value::Null,
    };
    let cursor = serde_json::json!([listing.sort.name(), listing.descending, key, last_id]);
    URL_SAFE_NO_PAD.encode(cursor.to_string())
}

fn read_cursor(listing: &Listing, cursor: &str) -> Result<(Value, Value)> {
    let invalid = || Error::invalid("cursor", "not a cursor of this listing: begin again without one");
    let text = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    let (sort, descending, key, id): (String, bool, serde_json::Value, String) =
        serde_json::from_slice(&text).map_err(|_| invalid())?;
    if sort != listing.sort.name() || descending != listing.descending {
        return Err(invalid());
    }
    let key = match (listing.sort, &key) {
        (Sort::Name, serde_json::Value::String(name)) => Value::from(name.as_str()),
        (Sort::Size | Sort::ModifiedAt, serde_json::Value::Number(number)) => {
            number.as_f64().map(Value::Real).ok_or_else(invalid)?
        }
        _ => return Err(invalid()),
    };
    Ok((key, Value::from(id)))
}

impl Sort {
    /// The name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Size => "size",
            Self::ModifiedAt => "modified_at",
        }
    }
}
