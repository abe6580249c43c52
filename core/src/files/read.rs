//! Reading: one round trip finds the file and the pages that the answer needs.

use std::collections::HashMap;
use std::ops::Range;

use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::NodeId;
use crate::manifest::{self, KeyedPage};
use crate::plan::{ReadPlan, Slice};
use crate::ports::{Db, Host, Platform, Row, Statement};
use crate::range::RangeSpec;
use crate::tree::{Address, Kind, Resolved, Version, resolve, walk};

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

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The node's id.
    pub node: NodeId,
    /// The current version.
    pub version: Version,
    pages: Vec<KeyedPage>,
}

impl File {
    /// Plans the bytes `range`, which must lie within what was [`Wanted`].
    pub fn plan(&self, range: Range<u64>) -> Result<ReadPlan> {
        match &self.version.blob.inline {
            Some(bytes) => {
                let part = usize::try_from(range.start)
                    .ok()
                    .zip(usize::try_from(range.end).ok())
                    .and_then(|(start, end)| bytes.get(start..end))
                    .ok_or_else(|| Error::Internal("inline content is shorter than its size".to_owned()))?;
                let mut plan = ReadPlan::default();
                plan.push(Slice::Inline(part.to_vec()));
                Ok(plan)
            }
            None => manifest::slices(&self.pages, range),
        }
    }
}

/// Finds a file, authorised to read.
pub async fn find<P: Platform>(platform: &P, address: &Address, wanted: Wanted<'_>) -> Result<File> {
    let mut batch =
        vec![auth::look_up(&address.token, &address.space, platform.host().now()), resolve(address)];
    batch.extend(pages_statement(address, wanted));
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise(rows().first(), Right::Read)?;
    let node = Resolved::existing(&rows(), address)?;
    let Kind::File(version) = node.kind else {
        return Err(Error::Conflict(Conflict::IsAFolder));
    };
    let pages = rows().iter().map(page).collect::<Result<_>>()?;
    Ok(File { node: node.id, version, pages })
}

/// The pages of the file at the end of the walk that the ranges ?4 touch: each a JSON array `[first, last, suffix]`
/// with nulls; no ranges, all pages. A page's end is the next one's start.
const PAGES: &str = concat!(
    walk!(),
    "select at.start, p.extents,
            (select json_group_array(json_array(s.id, s.key))
               from (select distinct json_extract(x.value, '$[0]') as id from json_each(p.extents) x) named
               cross join segments s on s.id = named.id) as keys
       from (select e.key as place, json_extract(e.value, '$[0]') as start, json_extract(e.value, '$[1]') as page,
                    coalesce(json_extract(b.pages, '$[' || (e.key + 1) || '][0]'), b.size_bytes) as stop,
                    b.size_bytes as size_bytes
               from walk w
              cross join nodes n on n.id = w.id
              cross join versions v on v.id = n.version_id
              cross join blobs b on b.id = v.blob_id
              cross join json_each(b.pages) e
              where w.depth = ?3) at
      cross join pages p on p.id = at.page
      where ?4 is null or exists (
            select 1 from json_each(?4) r
             where coalesce(json_extract(r.value, '$[0]'), at.size_bytes - json_extract(r.value, '$[2]')) < at.stop
               and coalesce(json_extract(r.value, '$[1]'), at.size_bytes) >= at.start)
      order by at.place"
);

fn pages_statement(address: &Address, wanted: Wanted<'_>) -> Option<Statement> {
    let ranges = match wanted {
        Wanted::Nothing => return None,
        Wanted::Everything => None,
        Wanted::Ranges(specs) => Some(serde_json::Value::from_iter(specs.iter().map(to_json)).to_string()),
    };
    let statement = Statement::new(PAGES)
        .bind(&address.space)
        .bind(address.path.to_json())
        .bind(address.path.depth() as u64)
        .bind(ranges);
    Some(statement)
}

fn to_json(spec: &RangeSpec) -> serde_json::Value {
    // Beyond 2^53 every position is past the end of any file, and JSON numbers lose their last digits.
    let exact = |number: u64| number.min(1 << 53);
    match *spec {
        RangeSpec::From { first, last } => serde_json::json!([exact(first), last.map(exact), null]),
        RangeSpec::Suffix(count) => serde_json::json!([null, null, exact(count)]),
    }
}

fn page(row: &Row) -> Result<KeyedPage> {
    let keys: HashMap<u64, String> =
        manifest::from_json::<Vec<(u64, String)>>(row.text("keys")?)?.into_iter().collect();
    Ok(KeyedPage { start: row.unsigned("start")?, extents: manifest::from_json(row.text("extents")?)?, keys })
}
