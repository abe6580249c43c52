//! Reading a node and its children, a page at a time.

use super::{Dead, Facts, Resource};
use crate::auth::{self, Caller, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::NodeId;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Rows, Statement, Timestamp};
use crate::tree::{self, Address, walk};

/// The most children of a page.
const PAGE: usize = 1000;

/// What is read.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Whose request, and about which node.
    pub address: Address,
    /// Its children too, if it is a folder.
    pub children: bool,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Read {
    /// Who asks.
    pub caller: Caller,
    /// How full the space is.
    pub root: Root,
    /// The node itself.
    pub node: Resource,
    /// The first of its children.
    pub page: Page,
}

/// A space from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// How much is in use.
    pub used_bytes: u64,
    /// How much may still be added; None without a quota.
    pub free_bytes: Option<u64>,
}

/// Children by name.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The children.
    pub children: Vec<Resource>,
    /// Where the next page begins; None at the end.
    pub next: Option<Next>,
}

/// The place after a page.
#[derive(Debug, Clone)]
pub struct Next {
    folder: NodeId,
    after: String,
    asked_at: Timestamp,
}

/// The columns of a [`Resource`].
macro_rules! resource {
    () => {
        "n.id, n.name, n.name_nfc, n.kind, n.created_at, n.modified_at, b.size_bytes, b.etag, b.media_type, b.digests"
    };
}

const NODE: &str = concat!(
    walk!(),
    "select case when n.parent_id = '' then s.name end as space_name, s.used_bytes, s.quota_bytes, ",
    resource!(),
    "  from walk w cross join nodes n on n.id = w.id cross join spaces s on s.id = ?1
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      where w.depth = ?3"
);

const CHILDREN: &str = concat!(
    walk!(),
    "select ",
    resource!(),
    "  from walk w cross join nodes n
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      where w.depth = ?3 and n.parent_id = w.id and n.trashed_at is null and n.name_nfc > ?4
      order by n.name_nfc limit ?5"
);

/// Reads the node at the address, and the first page of its children. One round trip.
pub async fn read<P: Platform>(platform: &P, listing: &Listing) -> Result<Read> {
    let now = platform.host().now();
    let mut batch = vec![auth::look_up_at(&listing.address, now), node(&listing.address)];
    if listing.children {
        batch.push(children(&listing.address, ""));
    }
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let caller = auth::authorise(rows(0).first(), Right::Read)?;
    let row = rows(1).first().ok_or(Error::NotFound)?;
    let node = resource(row)?;
    let used_bytes = row.unsigned("used_bytes")?;
    let quota = row.integer_or_null("quota_bytes")?;
    let free_bytes = quota.map(|quota| u64::try_from(quota).unwrap_or(0).saturating_sub(used_bytes));
    let page = page(rows(2), &node.id, now)?;
    Ok(Read { caller, root: Root { used_bytes, free_bytes }, node, page })
}

/// Reads the next page. One round trip. A child that is there all the while is listed once, whatever else happens; what
/// comes, goes or is renamed meanwhile may be listed or not.
///
/// # Errors
/// [`Conflict::Contended`] where the folder isn't there any more.
pub async fn read_on<D: Db>(db: &D, listing: &Listing, next: Next) -> Result<Page> {
    let address = &listing.address;
    let batch = vec![auth::look_up_at(address, next.asked_at), node(address), children(address, &next.after)];
    let results: Vec<Rows> = db.read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Read)?;
    let is_the_same = rows(1).first().is_some_and(|row| row.text("id") == Ok(next.folder.as_str()));
    if !is_the_same {
        return Err(Error::Conflict(Conflict::Contended));
    }
    page(rows(2), &next.folder, next.asked_at)
}

fn node(address: &Address) -> Statement {
    bind(NODE, address)
}

fn children(address: &Address, after: &str) -> Statement {
    bind(CHILDREN, address).bind(after).bind(PAGE as u64 + 1)
}

fn bind(sql: &'static str, address: &Address) -> Statement {
    Statement::new(sql).bind(&address.space).bind(address.way()).bind(address.path.depth() as u64)
}

fn page(rows: &[Row], folder: &NodeId, asked_at: Timestamp) -> Result<Page> {
    let shown = rows.get(..PAGE).filter(|_| rows.len() > PAGE);
    let next = match shown.and_then(<[Row]>::last) {
        Some(last) => {
            Some(Next { folder: folder.clone(), after: last.text("name_nfc")?.to_owned(), asked_at })
        }
        None => None,
    };
    let children = shown.unwrap_or(rows).iter().map(resource).collect::<Result<_>>()?;
    Ok(Page { children, next })
}

fn resource(row: &Row) -> Result<Resource> {
    let space_name = row.value("space_name").and_then(|_| row.text_or_null("space_name").ok().flatten());
    let file = match row.text("kind")? {
        "folder" => None,
        _ => Some(Facts {
            size_bytes: row.unsigned("size_bytes")?,
            etag: row.text("etag")?.to_owned(),
            media_type: row.text("media_type")?.to_owned(),
            digests: row.text_or_null("digests")?.map(manifest::from_json).transpose()?.unwrap_or_default(),
        }),
    };
    Ok(Resource {
        id: tree::id(row, "id", NodeId::parse)?,
        name: space_name.map_or_else(|| row.text("name"), Ok)?.to_owned(),
        created_at: Timestamp(row.integer("created_at")?),
        modified_at: Timestamp(row.integer("modified_at")?),
        file,
        dead: Vec::<Dead>::new(),
    })
}
