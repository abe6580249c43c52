//! Reading a node and its children, a page at a time.

use super::{Dead, Facts, Resource};
use crate::auth::{self, Caller, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::NodeId;
use crate::locks::{self, Covering, discover};
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Rows, Statement, Timestamp};
use crate::tree::{self, Address, walk};

/// The most children of a page.
const PAGE: usize = 1000;
/// A page ends where its dead properties exceed so many bytes.
const PAGE_BYTES: usize = 1_000_000;

/// What is read.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Whose request, and about which node.
    pub address: Address,
    /// Its children too, if it is a folder.
    pub children: bool,
    /// Dead properties too.
    pub dead: bool,
    /// Locks too.
    pub locks: bool,
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
    /// When it was looked at.
    pub asked_at: Timestamp,
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
        "n.id, n.name, n.name_nfc, n.kind, n.created_at, n.modified_at, n.changed_seq, b.size_bytes, b.etag, b.media_type, b.digests"
    };
}

/// A node's dead properties as JSON, or none.
macro_rules! dead {
    (true) => {
        ", (select json_group_array(json_array(prop.namespace, prop.name, prop.xml)) from properties prop where prop.node = n.n) as dead"
    };
    (false) => {
        ", '[]' as dead"
    };
}

macro_rules! node {
    ($dead:tt) => {
        concat!(
            walk!(),
            "select case when n.parent_id = '' then s.name end as space_name, s.used_bytes, s.reserved_bytes, s.quota_bytes, ",
            resource!(),
            dead!($dead),
            "  from walk w cross join nodes n on n.id = w.id cross join spaces s on s.id = ?1
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      where w.depth = ?3"
        )
    };
}

macro_rules! children {
    ($dead:tt) => {
        concat!(
            walk!(),
            "select ",
            resource!(),
            dead!($dead),
            "  from walk w cross join nodes n
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      where w.depth = ?3 and n.parent_id = w.id and n.trashed_at is null and n.name_nfc > ?4
      order by n.name_nfc limit ?5"
        )
    };
}

/// Children until their dead properties exceed ?6 bytes, the one that exceeds them included.
const CHILDREN_WITH_DEAD: &str = concat!(
    "select * from (select r.*, sum(length(r.dead)) over (rows unbounded preceding) as bytes from (",
    children!(true),
    ") r) where bytes - length(dead) <= ?6"
);

/// The dead properties of the node at the end of the walk.
pub(super) const DEAD: &str = concat!(
    walk!(),
    "select prop.namespace, prop.name, prop.xml
       from walk w cross join nodes n on n.id = w.id cross join properties prop on prop.node = n.n
      where w.depth = ?3"
);

/// Reads the node at the address, and the first page of its children. One round trip.
pub async fn read<P: Platform>(platform: &P, listing: &Listing) -> Result<Read> {
    let now = platform.host().now();
    let mut batch = vec![auth::look_up_at(&listing.address, now), node(listing)];
    if listing.children {
        batch.push(children(listing, ""));
    }
    batch.extend(listing.covering(now));
    let conditions = locks::conditions(&listing.address, now);
    let is_conditional = conditions.is_some();
    batch.extend(conditions);
    let mut results = platform.db().read(batch).await?;
    let holds = if is_conditional { results.pop() } else { None }.unwrap_or_default();
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let caller = auth::authorise(rows(0).first(), Right::Read)?;
    let row = rows(1).first().ok_or(Error::NotFound)?;
    locks::hold(&listing.address.token, &holds)?;
    let mut node = resource(row)?;
    let used_bytes = row.unsigned("used_bytes")?;
    let quota = row.integer_or_null("quota_bytes")?;
    let taken_bytes = used_bytes.saturating_add(row.unsigned("reserved_bytes")?);
    let free_bytes = quota.map(|quota| u64::try_from(quota).unwrap_or(0).saturating_sub(taken_bytes));
    let (rows_of_children, rows_of_locks) =
        if listing.children { (rows(2), rows(3)) } else { (&[][..], rows(2)) };
    let covering = Covering::read(rows_of_locks)?;
    node.locks = covering.top().cloned().collect();
    let page = page(rows_of_children, &node.id, now, &covering)?;
    Ok(Read { caller, root: Root { used_bytes, free_bytes, asked_at: now }, node, page })
}

/// Reads the next page. One round trip. A child that is there all the while is listed once, whatever else happens; what
/// comes, goes or is renamed meanwhile may be listed or not.
///
/// # Errors
/// [`Conflict::Contended`] where the folder isn't there any more.
pub async fn read_on<D: Db>(db: &D, listing: &Listing, next: Next) -> Result<Page> {
    let address = &listing.address;
    let mut batch =
        vec![auth::look_up_at(address, next.asked_at), node(listing), children(listing, &next.after)];
    batch.extend(listing.covering(next.asked_at));
    let results: Vec<Rows> = db.read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Read)?;
    let is_the_same = rows(1).first().is_some_and(|row| row.text("id") == Ok(next.folder.as_str()));
    if !is_the_same {
        return Err(Error::Conflict(Conflict::Contended));
    }
    page(rows(2), &next.folder, next.asked_at, &Covering::read(rows(3))?)
}

impl Listing {
    fn covering(&self, now: Timestamp) -> Option<Statement> {
        self.locks.then(|| discover(&self.address, now, self.children))
    }
}

fn node(listing: &Listing) -> Statement {
    bind(if listing.dead { node!(true) } else { node!(false) }, &listing.address)
}

fn children(listing: &Listing, after: &str) -> Statement {
    let sql = if listing.dead { CHILDREN_WITH_DEAD } else { children!(false) };
    let statement = bind(sql, &listing.address).bind(after).bind(PAGE as u64 + 1);
    if listing.dead { statement.bind(PAGE_BYTES as u64) } else { statement }
}

fn bind(sql: &'static str, address: &Address) -> Statement {
    Statement::new(sql).bind(&address.space).bind(address.way()).bind(address.path.depth() as u64)
}

fn page(rows: &[Row], folder: &NodeId, asked_at: Timestamp, covering: &Covering) -> Result<Page> {
    let bytes: usize = rows.iter().map(|row| row.text("dead").map_or(0, str::len)).sum();
    let is_cut = rows.len() > PAGE || bytes > PAGE_BYTES;
    let rows = rows.get(..PAGE).unwrap_or(rows);
    let next = match rows.last().filter(|_| is_cut) {
        Some(last) => {
            Some(Next { folder: folder.clone(), after: last.text("name_nfc")?.to_owned(), asked_at })
        }
        None => None,
    };
    let mut children = rows.iter().map(resource).collect::<Result<Vec<_>>>()?;
    for child in &mut children {
        child.locks = covering.member(&child.id).cloned().collect();
    }
    Ok(Page { children, next })
}

fn resource(row: &Row) -> Result<Resource> {
    let space_name = row.value("space_name").and_then(|_| row.text_or_null("space_name").ok().flatten());
    let file = match row.text("kind")? {
        "folder" => None,
        _ => Some(Facts {
            size_bytes: row.unsigned("size_bytes")?,
            media_type: row.text("media_type")?.to_owned(),
            digests: row.text_or_null("digests")?.map(manifest::from_json).transpose()?.unwrap_or_default(),
        }),
    };
    let id = tree::id(row, "id", NodeId::parse)?;
    let etag = match row.text_or_null("etag")? {
        Some(etag) => etag.to_owned(),
        None => tree::folder_etag(id.as_str(), row.unsigned("changed_seq")?),
    };
    Ok(Resource {
        id,
        etag,
        name: space_name.map_or_else(|| row.text("name"), Ok)?.to_owned(),
        created_at: Timestamp(row.integer("created_at")?),
        modified_at: Timestamp(row.integer("modified_at")?),
        file,
        locks: Vec::new(),
        dead: manifest::from_json::<Vec<(String, String, String)>>(row.text("dead")?)?
            .into_iter()
            .map(|(namespace, name, xml)| Dead { namespace, name, xml })
            .collect(),
    })
}
