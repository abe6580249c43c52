//! What is below a folder, from the database.

use std::collections::{BTreeSet, HashMap};

use super::layout::{Content, Node};
use super::open::{MAX_ENTRIES, Sources};
use crate::auth::{self, Caller, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::{AccountId, SpaceId};
use crate::imports;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Statement};
use crate::token::Token;
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

/// Reads it, folders with all that is below; None where the space was changed meanwhile. The top folder of a space has no
/// entry of its own.
pub(super) async fn read<P: Platform>(platform: &P, sources: Sources<'_>) -> Result<Option<Vec<Node>>> {
    let mut reading = Reading::default();
    let folders = match sources {
        Sources::Folder(address) => {
            vec![(address, address.path.last().map(|name| name.as_str().to_owned()))]
        }
        Sources::Each(addresses) => find(platform, addresses, &mut reading).await?,
    };
    for (address, name) in folders {
        if !reading.folder(platform, address, name).await? {
            return Ok(None);
        }
    }
    reading.all_hashed(platform).await?;
    Ok(Some(reading.nodes))
}

/// A folder that is to be read, and its name; a space's top folder has none.
type Top<'a> = (&'a Address, Option<String>);

/// Finds out what stands at the addresses: files are entries already, folders are still to be read.
async fn find<'a, P: Platform>(
    platform: &P,
    addresses: &'a [Address],
    reading: &mut Reading,
) -> Result<Vec<Top<'a>>> {
    let Some(first) = addresses.first() else { return Ok(Vec::new()) };
    let now = platform.host().now();
    let mut batch = vec![change_seq(first)];
    for address in addresses {
        batch.extend([auth::look_up_at(address, now), resolve(address)]);
        batch.extend(name_of(address));
    }
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let seq = rows();
    let mut folders = Vec::new();
    for address in addresses {
        reading.reads(address, auth::authorise(rows().first(), Right::Read)?);
        let node = Resolved::existing(&rows(), address)?;
        let name = match address.path.last() {
            Some(name) => Some(name.as_str().to_owned()),
            None if address.base.is_none() => None,
            None => rows().first().map(|row| row.text("name")).transpose()?.map(str::to_owned),
        };
        match (node.kind, name) {
            (Kind::File(version), Some(name)) => {
                let crc32 = reading.hashed(version.blob.id.as_str(), version.blob.crc32);
                reading.nodes.push(Node {
                    parent: None,
                    name,
                    modified_secs: version.modified_at.0.div_euclid(1000),
                    content: Some(Content {
                        blob: version.blob.id.to_string(),
                        etag: version.blob.etag,
                        size_bytes: version.blob.size_bytes,
                        crc32,
                    }),
                });
            }
            (_, name) => folders.push((address, name)),
        }
    }
    reading.seq = Some(seq.first().ok_or(Error::NotFound)?.unsigned("change_seq")?);
    Ok(folders)
}

/// Asks for the name of a node that is given by its id; a space's top folder has none.
fn name_of(address: &Address) -> Option<Statement> {
    let id = address.base.as_ref().filter(|_| address.path.last().is_none())?;
    Some(Statement::new("select name from nodes where id = ?1 and parent_id <> ''").bind(id))
}

fn change_seq(address: &Address) -> Statement {
    Statement::new("select change_seq from spaces where id = ?1").bind(&address.space)
}

#[derive(Default)]
struct Reading {
    /// The state of the space that all of it is of.
    seq: Option<u64>,
    nodes: Vec<Node>,
    /// Who reads it.
    by: Option<(Token, AccountId, SpaceId)>,
    /// Imported content whose CRC-32 isn't known yet.
    unhashed: BTreeSet<String>,
    /// The folder that is read, and where it stands in the list, if it does.
    top: String,
    top_place: Option<usize>,
    /// Where each folder stands in the list, by its key.
    places: HashMap<i64, usize>,
    /// The way to the last node: of each on it key, id and NFC name.
    last: Vec<(i64, String, String)>,
}

impl Reading {
    fn reads(&mut self, address: &Address, caller: Caller) {
        self.by.get_or_insert_with(|| (address.token.clone(), caller.account, address.space.clone()));
    }

    /// The CRC-32 of content; where it isn't known, the archive can't be laid out before a job has made it.
    fn hashed(&mut self, blob: &str, crc32: Option<u32>) -> u32 {
        if crc32.is_none() {
            self.unhashed.insert(blob.to_owned());
        }
        crc32.unwrap_or_default()
    }

    async fn all_hashed<P: Platform>(&self, platform: &P) -> Result<()> {
        let Some((token, account, space)) = self.by.as_ref().filter(|_| !self.unhashed.is_empty()) else {
            return Ok(());
        };
        let blobs: Vec<&str> = self.unhashed.iter().map(String::as_str).collect();
        Err(imports::hash::want(platform, (token, account, space), &blobs).await)
    }

    /// Adds a folder and all that is below. False where the space has another state by then.
    async fn folder<P: Platform>(
        &mut self,
        platform: &P,
        address: &Address,
        name: Option<String>,
    ) -> Result<bool> {
        let first = Statement::new(FIRST).bind(&address.space).bind(address.way());
        let mut next = vec![resolve(address), first.bind(address.path.depth() as u64)];
        let mut has_begun = false;
        loop {
            let mut batch = vec![auth::look_up_at(address, platform.host().now()), change_seq(address)];
            batch.append(&mut next);
            let mut results = platform.db().read(batch).await?.into_iter();
            let mut rows = || results.next().unwrap_or_default();
            self.reads(address, auth::authorise(rows().first(), Right::Read)?);
            let seq = rows().first().ok_or(Error::NotFound)?.unsigned("change_seq")?;
            if *self.seq.get_or_insert(seq) != seq {
                return Ok(false);
            }
            if !has_begun {
                self.begin(&Resolved::existing(&rows(), address)?, name.clone())?;
                has_begun = true;
            }
            let rows = rows();
            for row in rows.iter().take(PAGE) {
                self.add(row)?;
            }
            if self.nodes.len() > MAX_ENTRIES {
                return Err(Error::TooManyEntries { reason: format!("it has more than {MAX_ENTRIES}") });
            }
            if rows.len() <= PAGE {
                return Ok(true);
            }
            next = vec![self.rest()?];
        }
    }

    fn begin(&mut self, folder: &crate::tree::Node, name: Option<String>) -> Result<()> {
        if !matches!(folder.kind, Kind::Folder) {
            return Err(Error::Conflict(Conflict::NotAFolder));
        }
        self.last.clear();
        self.top = folder.id.to_string();
        self.top_place = name.map(|name| {
            self.nodes.push(Node {
                parent: None,
                name,
                modified_secs: folder.modified_at.0.div_euclid(1000),
                content: None,
            });
            self.nodes.len() - 1
        });
        Ok(())
    }

    fn add(&mut self, row: &Row) -> Result<()> {
        let (key, up) = (row.integer("n")?, row.integer_or_null("up")?);
        let parent = match up {
            Some(up) => Some(*self.places.get(&up).ok_or_else(|| lost("a child before its folder"))?),
            None => self.top_place,
        };
        let content = match row.text_or_null("blob_id")? {
            None => None,
            Some(blob) => Some(Content {
                blob: blob.to_owned(),
                etag: row.text("etag")?.to_owned(),
                size_bytes: row.unsigned("size_bytes")?,
                crc32: self.hashed(blob, u32::try_from(row.integer("crc32")?).ok()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_one_more_row_than_is_used_to_tell_whether_there_are_more() {
        for sql in [FIRST, NEXT] {
            assert_eq!(sql.matches("limit ").count(), 2);
            assert_eq!(sql.matches(&format!("limit {}", PAGE + 1)).count(), 2);
        }
    }
}
