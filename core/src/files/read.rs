//! Reading: one round trip finds the file and the pages that the answer needs.

use std::ops::Range;

use crate::auth::{self, Right};
use crate::blobs::{keyed_page, keys, tail_of};
use crate::error::{Conflict, Error, Result};
use crate::ids::{NodeId, VersionId};
use crate::locks;
use crate::manifest::{self, KeyedPage};
use crate::plan::{Place, ReadPlan, Slice};
use crate::ports::{Db, Host, Platform, Rows, Statement, Timestamp, Value};
use crate::range::RangeSpec;
use crate::tree::{self, Address, Kind, Resolved, Version, resolve, walk};

/// How much of the content the answer needs.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// None: HEAD.
    Nothing,
    /// All of it.
    Everything,
    /// What these ranges touch.
    Ranges(&'a [RangeSpec]),
}

/// Which of the file's versions to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// The newest.
    Current,
    /// This one.
    Version(VersionId),
    /// The one that was the newest at this time.
    At(Timestamp),
}

/// Where content is, as far as it was [`Wanted`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stored {
    /// The pages, in order.
    pub(crate) pages: Vec<KeyedPage>,
    /// What lies behind the pages, and where it begins.
    pub(crate) rest: Option<(u64, Vec<u8>)>,
}

impl Stored {
    /// Plans the bytes `range`.
    pub(crate) fn plan(&self, range: Range<u64>) -> Result<ReadPlan> {
        let Some((start, bytes)) = &self.rest else { return manifest::slices(&self.pages, range) };
        let in_pages = range.start.min(*start)..range.end.min(*start);
        let mut plan = manifest::slices(&self.pages, in_pages)?;
        let within = |position: u64| usize::try_from(position.saturating_sub(*start)).unwrap_or(usize::MAX);
        let part = bytes
            .get(within(range.start)..within(range.end))
            .ok_or_else(|| Error::Internal("content in a row is shorter than its size".to_owned()))?;
        plan.push(Slice::Inline(part.to_vec()));
        Ok(plan)
    }
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The node's id.
    pub node: NodeId,
    /// The version that was asked for.
    pub version: Version,
    stored: Stored,
    /// Whether the object that it begins with is as long as it is.
    fits_object: bool,
}

impl File {
    /// The object that has just this content, and nothing else, if one has and the content was [`Wanted`].
    pub fn whole_object(&self) -> Option<Place> {
        if !self.fits_object {
            return None;
        }
        match self.plan(0..self.version.blob.size_bytes).ok()?.slices() {
            // Whoever is sent to an object that others may change can't be told what it was.
            [Slice::Object { place, range }] if range.start == 0 && place.etag.is_none() => {
                Some(place.clone())
            }
            _ => None,
        }
    }

    /// The pages of what was [`Wanted`].
    pub(crate) fn pages(&self) -> &[KeyedPage] {
        &self.stored.pages
    }

    /// What lies behind the pages, and where it begins, where it was [`Wanted`]; of inline content, all.
    pub(crate) fn tail(&self) -> Option<(u64, &[u8])> {
        self.stored.rest.as_ref().map(|(start, bytes)| (*start, bytes.as_slice()))
    }

    /// Plans the bytes `range`, which must lie within what was [`Wanted`].
    pub fn plan(&self, range: Range<u64>) -> Result<ReadPlan> {
        self.stored.plan(range)
    }
}

/// Finds a file, authorised to read. One round trip.
///
/// # Errors
/// [`Error::NotFound`] too where the file has no such version, or had none at that time.
pub async fn find<P: Platform>(
    platform: &P,
    address: &Address,
    which: &Which,
    wanted: Wanted<'_>,
) -> Result<File> {
    let look_up = auth::look_up_at(address, platform.host().now());
    Ok(find_with(platform, address, which, wanted, vec![look_up]).await?.0)
}

/// The same for who is found by the first of the statements `first`; returns what the others found, too.
pub(crate) async fn find_with<P: Platform>(
    platform: &P,
    address: &Address,
    which: &Which,
    wanted: Wanted<'_>,
    first: Vec<Statement>,
) -> Result<(File, Vec<Rows>)> {
    let now = platform.host().now();
    let count = first.len();
    let mut batch = first;
    batch.push(resolve(address));
    let conditions = locks::conditions(address, now);
    let is_conditional = conditions.is_some();
    batch.extend(conditions);
    batch.extend(older_statement(address, which));
    batch.extend(pages_statement(address, which, wanted));
    let mut results = platform.db().read(batch).await?.into_iter();
    let also: Vec<Rows> = results.by_ref().take(count).collect();
    auth::authorise(also.first().and_then(|rows| rows.first()), Right::Read)?;
    let mut rows = || results.next().unwrap_or_default();
    let node = Resolved::existing(&rows(), address)?;
    if is_conditional {
        locks::hold(&address.token, &rows())?;
    }
    let Kind::File(current) = node.kind else {
        return Err(Error::Conflict(Conflict::IsAFolder));
    };
    let version = match which {
        Which::Current => current,
        _ => tree::version(rows().first().ok_or(Error::NotFound)?)?,
    };
    let (mut stored, mut fits_object) = (Stored::default(), false);
    stored.rest = version.blob.inline.clone().map(|bytes| (0, bytes));
    for row in rows() {
        match row.text_or_null("extents")? {
            Some(_) => {
                fits_object |= row.integer("fits_object")? == 1;
                stored.pages.push(keyed_page(&row)?);
            }
            None => stored.rest = Some((row.unsigned("start")?, tail_of(&row)?)),
        }
    }
    Ok((File { node: node.id, version, stored, fits_object }, also))
}

/// Which version `v` of the node `n` is meant, by ?4: conditions for [`Which`].
macro_rules! which {
    (current) => {
        "v.id = n.version_id and ?4 is null"
    };
    (version) => {
        "v.id = ?4 and v.node_id = n.id"
    };
    (at) => {
        "v.id = (select p.id from versions p where p.node_id = n.id and p.created_at <= ?4
                  order by p.created_at desc, p.id desc limit 1)"
    };
}

pub(crate) use which;

/// A version of the file at the end of the walk.
macro_rules! older {
    ($which:ident) => {
        concat!(
            walk!(),
            "select v.id as version_id, v.modified_at, b.id as blob_id, b.size_bytes, b.etag, b.media_type,
                    b.crc32, b.inline, b.digests
               from walk w cross join nodes n on n.id = w.id
              cross join versions v on ",
            which!($which),
            " cross join blobs b on b.id = v.blob_id
              where w.depth = ?3"
        )
    };
}

/// `at` and `p`: the pages of a version of the file at the end of the walk. A page's end is the next one's start. The tail
/// stands as the last of them, with the id 0, which no page has.
macro_rules! paged {
    ($which:ident) => {
        concat!(
            "(select e.key as place, json_extract(e.value, '$[0]') as start, json_extract(e.value, '$[1]') as page,
                    coalesce(json_extract(b.pages, '$[' || (e.key + 1) || '][0]'),
                             case when json_extract(e.value, '$[1]') = 0 then b.size_bytes
                                  else b.size_bytes - b.tail_bytes end) as stop,
                    b.size_bytes as size_bytes, b.id as blob
               from walk w
              cross join nodes n on n.id = w.id
              cross join versions v on ",
            which!($which),
            " cross join blobs b on b.id = v.blob_id
              cross join json_each(case when b.tail_bytes = 0 then b.pages
                     else json_insert(b.pages, '$[#]', json_array(b.size_bytes - b.tail_bytes, 0, 0)) end) e
              where w.depth = ?3) at
       left join pages p on p.id = at.page"
        )
    };
}

/// Whether the ranges ?5 touch the page: each a JSON array `[first, last, suffix]` with nulls; no ranges, all pages.
macro_rules! touched {
    () => {
        "(?5 is null or exists (
            select 1 from json_each(?5) r
             where coalesce(json_extract(r.value, '$[0]'), at.size_bytes - json_extract(r.value, '$[2]')) < at.stop
               and coalesce(json_extract(r.value, '$[1]'), at.size_bytes) >= at.start))"
    };
}

/// The pages [`touched`], with the keys of their segments.
macro_rules! pages {
    ($which:ident) => {
        concat!(
            walk!(),
            "select at.start, p.extents, case when at.page = 0 then (select tail from blobs where id = at.blob) end as tail,
            ",
            keys!(),
            ",
            at.start = 0 and at.stop = at.size_bytes and exists (
               select 1 from segments s
                where s.id = json_extract(p.extents, '$[0][0]') and s.size_bytes = at.size_bytes) as fits_object
       from ",
            paged!($which),
            " where ",
            touched!(),
            " order by at.place"
        )
    };
}

/// What the space's index has of the segments that the pages [`touched`] name: ?6 chunks at most.
macro_rules! chunks {
    ($which:ident) => {
        concat!(
            walk!(),
            "select c.segment, c.offset, c.length, c.hash
       from (select distinct json_extract(x.value, '$[0]') as segment
               from ",
            paged!($which),
            " cross join json_each(p.extents) x where ",
            touched!(),
            ") named
      cross join spaces sp on sp.id = ?1
      cross join chunks c on c.segment = named.segment and c.space = sp.n
      limit ?6"
        )
    };
}

/// The chunks that the index has of the segments behind these ranges.
pub(crate) fn chunks_statement(
    address: &Address,
    which: &Which,
    specs: &[RangeSpec],
    at_most: u64,
) -> Statement {
    let sql = match which {
        Which::Current => chunks!(current),
        Which::Version(_) => chunks!(version),
        Which::At(_) => chunks!(at),
    };
    bind_place(Statement::new(sql), address, which).bind(ranges(specs)).bind(at_most)
}

impl Which {
    fn parameter(&self) -> Value {
        match self {
            Self::Current => Value::Null,
            Self::Version(id) => id.into(),
            Self::At(time) => (*time).into(),
        }
    }
}

fn older_statement(address: &Address, which: &Which) -> Option<Statement> {
    let sql = match which {
        Which::Current => return None,
        Which::Version(_) => older!(version),
        Which::At(_) => older!(at),
    };
    Some(bind_place(Statement::new(sql), address, which))
}

fn pages_statement(address: &Address, which: &Which, wanted: Wanted<'_>) -> Option<Statement> {
    let touched = match wanted {
        Wanted::Nothing => return None,
        Wanted::Everything => None,
        Wanted::Ranges(specs) => Some(ranges(specs)),
    };
    let sql = match which {
        Which::Current => pages!(current),
        Which::Version(_) => pages!(version),
        Which::At(_) => pages!(at),
    };
    Some(bind_place(Statement::new(sql), address, which).bind(touched))
}

fn ranges(specs: &[RangeSpec]) -> String {
    serde_json::Value::from_iter(specs.iter().map(to_json)).to_string()
}

/// Binds what [`which`] needs, with the place.
pub(crate) fn bind_place(statement: Statement, address: &Address, which: &Which) -> Statement {
    statement
        .bind(&address.space)
        .bind(address.way())
        .bind(address.path.depth() as u64)
        .bind(which.parameter())
}

fn to_json(spec: &RangeSpec) -> serde_json::Value {
    // Beyond 2^53 every position is past the end of any file, and JSON numbers lose their last digits.
    let exact = |number: u64| number.min(1 << 53);
    match *spec {
        RangeSpec::From { first, last } => serde_json::json!([exact(first), last.map(exact), null]),
        RangeSpec::Suffix(count) => serde_json::json!([null, null, exact(count)]),
    }
}
