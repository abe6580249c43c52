//! What is below a folder, from the database.

use std::collections::HashMap;

use super::layout::{Content, Node};
use super::open::MAX_ENTRIES;
use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Statement};
use crate::tree::{Address, Kind, Resolved, resolve, walk};

/// What is between the names of a way: `char(1)`, which no name holds.
const BETWEEN: char = '\u{1}';

/// How many nodes a round trip brings, at most.
const PAGE: usize = 5000;

/// The nodes of `starts(place, parent, up, after, way)`: of each parent the children whose names come after, and all that is
/// below; the first of them in the order of their ways. A way is the names from the top, with what no name holds between
/// them, so that a folder's children come right behind it. What is read depends on the page, not on where it begins: a
/// folder that has begun goes on behind its last name.
macro_rules! tree {
    ($starts:literal) => {
        concat!(
            "tree (n, id, up, way) as (
                 select * from (
                   select k.n, k.id, s.up, s.way || char(1) || k.name_nfc
                     from ",
            $starts,
            " s cross join nodes k
                    where k.parent_id = s.parent and k.name_nfc > s.after and k.trashed_at is null
                    order by s.place, k.name_nfc limit 5001)
                 union all
                 select k.n, k.id, t.n, t.way || char(1) || k.name_nfc
                   from tree t cross join nodes k where k.parent_id = t.id and k.trashed_at is null
                  order by 4 limit 5001
             )
             select t.n, t.id, t.up, o.name, o.name_nfc, coalesce(v.modified_at, o.modified_at) as modified_at,
                    b.id as blob_id, b.etag, b.size_bytes, b.crc32
               from tree t cross join nodes o on o.n = t.n
               left join versions v on v.id = o.version_id left join blobs b on b.id = v.blob_id
              order by t.way"
        )
    };
}

const FIRST: &str = concat!(
    walk!(),
    ", ",
    tree!(
        "(select 0 as place, w.id as parent, null as up, '' as after, '' as way from walk w where w.depth = ?3)"
    )
);

/// ?1: `[[parent, up, after, way], …]`, the deepest first.
const NEXT: &str = concat!(
    "with recursive ",
    tree!(
        "(select key as place, json_extract(value, '$[0]') as parent, json_extract(value, '$[1]') as up,
                 json_extract(value, '$[2]') as after, json_extract(value, '$[3]') as way from json_each(?1))"
    )
);

/// A folder, and all that is below.
pub(super) struct Tree {
    /// The folder's own name; None for a space's top folder.
    pub(super) name: Option<String>,
    pub(super) nodes: Vec<Node>,
}

/// Reads all of it; None where it was changed meanwhile. A round trip for each 5,000 nodes.
pub(super) async fn read<P: Platform>(platform: &P, address: &Address) -> Result<Option<Tree>> {
    let first =
        Statement::new(FIRST).bind(&address.space).bind(address.way()).bind(address.path.depth() as u64);
    let mut reading = Reading::default();
    let mut next = vec![resolve(address), first];
    loop {
        let mut batch = vec![auth::look_up_at(address, platform.host().now()), change_seq(address)];
        batch.append(&mut next);
        let mut results = platform.db().read(batch).await?.into_iter();
        let mut rows = || results.next().unwrap_or_default();
        auth::authorise(rows().first(), Right::Read)?;
        let seq = rows().first().ok_or(Error::NotFound)?.unsigned("change_seq")?;
        match reading.seq {
            None => reading.begin(seq, &Resolved::existing(&rows(), address)?, address)?,
            Some(before) if before != seq => return Ok(None),
            Some(_) => {}
        }
        let rows = rows();
        for row in rows.iter().take(PAGE) {
            reading.add(row)?;
        }
        if rows.len() <= PAGE {
            return Ok(Some(Tree { name: reading.name, nodes: reading.nodes }));
        }
        if reading.nodes.len() >= MAX_ENTRIES {
            return Err(Error::TooManyEntries { reason: format!("it has more than {MAX_ENTRIES}") });
        }
        next = vec![reading.rest()?];
    }
}

fn change_seq(address: &Address) -> Statement {
    Statement::new("select change_seq from spaces where id = ?1").bind(&address.space)
}

#[derive(Default)]
struct Reading {
    seq: Option<u64>,
    name: Option<String>,
    top: String,
    nodes: Vec<Node>,
    /// Where each folder stands in the list, by its key.
    places: HashMap<i64, usize>,
    /// The way to the last node: of each on it key, id and NFC name.
    last: Vec<(i64, String, String)>,
}

impl Reading {
    fn begin(&mut self, seq: u64, folder: &crate::tree::Node, address: &Address) -> Result<()> {
        if !matches!(folder.kind, Kind::Folder) {
            return Err(Error::Conflict(Conflict::NotAFolder));
        }
        self.seq = Some(seq);
        self.top = folder.id.to_string();
        if let Some(name) = address.path.last() {
            self.name = Some(name.as_str().to_owned());
            self.nodes.push(Node {
                parent: None,
                name: name.as_str().to_owned(),
                modified_secs: folder.modified_at.0.div_euclid(1000),
                content: None,
            });
        }
        Ok(())
    }

    fn add(&mut self, row: &Row) -> Result<()> {
        let (key, up) = (row.integer("n")?, row.integer_or_null("up")?);
        let parent = match up {
            Some(up) => Some(*self.places.get(&up).ok_or_else(|| lost("a child before its folder"))?),
            None => self.name.as_ref().map(|_| 0),
        };
        let content = match row.text_or_null("blob_id")? {
            None => None,
            Some(blob) => Some(Content {
                blob: blob.to_owned(),
                etag: row.text("etag")?.to_owned(),
                size_bytes: row.unsigned("size_bytes")?,
                crc32: u32::try_from(row.integer("crc32")?).map_err(|_| lost("no CRC-32"))?,
            }),
        };
        while self.last.last().is_some_and(|(above, ..)| Some(*above) != up) {
            self.last.pop();
        }
        self.last.push((key, row.text("id")?.to_owned(), row.text("name_nfc")?.to_owned()));
        if content.is_none() {
            self.places.insert(key, self.nodes.len());
        }
        let name = row.text("name")?.to_owned();
        let modified_secs = row.integer("modified_at")?.div_euclid(1000);
        self.nodes.push(Node { parent, name, modified_secs, content });
        Ok(())
    }

    /// What comes after the last node: its own children, then the later siblings of each on the way to it.
    fn rest(&self) -> Result<Statement> {
        let mut starts: Vec<(&str, Option<i64>, &str, String)> = Vec::new();
        let (mut parent, mut up, mut way) = (self.top.as_str(), None, String::new());
        for (key, id, name) in &self.last {
            starts.push((parent, up, name, way.clone()));
            (parent, up) = (id, Some(*key));
            way.push(BETWEEN);
            way.push_str(name);
        }
        starts.push((parent, up, "", way));
        starts.reverse();
        Ok(Statement::new(NEXT).bind(manifest::to_json(&starts)?))
    }
}

fn lost(what: &str) -> Error {
    Error::Internal(format!("an archive's tree: {what}"))
}
