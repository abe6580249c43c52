//! Removing what hangs under a job's hidden roots, a bounded piece at a time: what is deepest first, so that nothing is
//! ever left without its way up; of a file with very many versions, the oldest first, the file with the last ones.
//!
//! The quota gets its bytes back with the rows. A piece that is removed again removes nothing.

use std::collections::HashMap;

use super::hidden::purge_roots;
use crate::error::Result;
use crate::jobs::{Claimed, Progress};
use crate::manifest;
use crate::ports::{Db, Platform, Row, Statement};
use crate::versions::remove_loose_blobs;

/// The most nodes of a piece, and the most versions: some hundred milliseconds of a database.
pub const PIECE: u64 = 2000;
/// The most bytes of the versions in a piece, unless one file alone has more: 128 GiB have some 16,000 segments, and a row
/// for each goes.
const PIECE_BYTES: u64 = 128 << 30;

/// What a piece came to. Nothing: nothing is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Removed {
    nodes: u64,
    versions: u64,
    /// What the versions counted.
    bytes: u64,
}

impl Removed {
    /// Whether there was nothing to remove.
    pub(super) fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// What the job has done with it.
    pub(super) fn add_to(self, progress: Progress) -> Progress {
        Progress {
            items_done: progress.items_done + self.nodes,
            bytes_done: progress.bytes_done + self.bytes,
            ..progress
        }
    }
}

/// Up to ?3 nodes between the roots ?1 and ?2, those first that are deepest, each behind the one that it is in. `members` are
/// a folder's children, or a file's versions, as far as they matter. Of no folder more children are looked at than fit.
const DEEPEST: &str = "with recursive tree (n, id, up, kind, depth) as (
        select * from (
            select n, id, '', kind, 0 from nodes
             where parent_id >= ?1 and parent_id < ?2 and trashed_at is null limit ?3)
        union all
        select k.n, k.id, t.id, k.kind, t.depth + 1 from tree t cross join nodes k
         where k.n in (select c.n from nodes c where c.parent_id = t.id and c.trashed_at is null limit ?3)
         order by 5 desc
         limit ?3
    ) select t.id, t.up, t.kind,
             case t.kind when 'folder'
               then (select count(*) from (
                       select 1 from nodes c where c.parent_id = t.id and c.trashed_at is null limit ?3 + 1))
               else (select count(*) from (select 1 from versions v where v.node_id = t.id limit ?3 + 1))
             end as members,
             case t.kind when 'file'
               then (select coalesce(sum(b.size_bytes), 0) from (
                       select o.blob_id from versions o where o.node_id = t.id order by o.created_at limit ?3) page
                      cross join blobs b on b.id = page.blob_id)
             end as bytes
        from tree t";

/// `doomed`: all versions of the files ?1, or, with ?2, the oldest ones of one file.
macro_rules! doomed {
    () => {
        "with doomed (id, blob_id, node_id) as (
            select v.id, v.blob_id, v.node_id from json_each(?1) f cross join versions v on v.node_id = f.value
             where ?2 is null
            union all
            select * from (
                select v.id, v.blob_id, v.node_id from versions v
                 where v.node_id = json_extract(?1, '$[0]') and ?2 is not null order by v.created_at limit coalesce(?2, 0))
        ) "
    };
}

const LOOSEN_BLOBS: &str =
    concat!(doomed!(), "insert into loose_blobs (id) select distinct doomed.blob_id from doomed");

/// A job's nodes may be of several spaces.
const FREE_BYTES: &str = concat!(
    doomed!(),
    "update spaces set used_bytes = used_bytes - (
        select coalesce(sum(b.size_bytes), 0)
          from doomed cross join nodes o on o.id = doomed.node_id cross join blobs b on b.id = doomed.blob_id
         where o.space_id = spaces.id)
      where id in (select o.space_id from json_each(?1) f cross join nodes o on o.id = f.value)"
);

const VERSIONS: &str = concat!(doomed!(), "delete from versions where id in (select doomed.id from doomed)");

const NODES: &str = "delete from nodes where id in (select value from json_each(?1))";

/// Removes a piece of what the job hides: at most so many nodes, and so many versions. That must be more than a tree is deep, for
/// every piece to meet an end. Two round trips; one where nothing is left.
pub(super) async fn remove_piece<P: Platform>(platform: &P, job: &Claimed, most: u64) -> Result<Removed> {
    let (from, to) = purge_roots(&job.id);
    let look = Statement::new(DEEPEST).bind(from).bind(to).bind(most);
    let rows = platform.db().read(vec![look]).await?.pop().unwrap_or_default();
    let piece = Piece::choose(&rows, most)?;
    if piece.removed.is_nothing() {
        return Ok(piece.removed);
    }
    let files = manifest::to_json(&piece.files)?;
    let on_files =
        |sql: &'static str| Statement::new(sql).bind(files.as_str()).bind(piece.is_part.then_some(most));
    let mut batch = vec![job.guard()];
    batch.extend([on_files(LOOSEN_BLOBS), on_files(FREE_BYTES), on_files(VERSIONS)]);
    batch.push(Statement::new(NODES).bind(manifest::to_json(&piece.nodes)?));
    batch.extend(remove_loose_blobs());
    platform.db().write(batch).await?;
    Ok(piece.removed)
}

/// What goes at once.
#[derive(Debug, PartialEq, Eq, Default)]
struct Piece<'a> {
    /// Whose versions go.
    files: Vec<&'a str>,
    /// Whether that is one file, of which only the oldest versions go.
    is_part: bool,
    /// The files, and the folders that have nothing left then.
    nodes: Vec<&'a str>,
    removed: Removed,
}

impl<'a> Piece<'a> {
    /// From the rows of [`DEEPEST`], in which whatever is in a folder comes behind it.
    fn choose(rows: &'a [Row], most: u64) -> Result<Self> {
        let mut piece = Self::default();
        let mut gone_of: HashMap<&str, u64> = HashMap::new();
        for row in rows.iter().rev() {
            let (id, up, members) = (row.text("id")?, row.text("up")?, row.unsigned("members")?);
            let goes = match row.text("kind")? {
                "folder" => gone_of.get(id).copied().unwrap_or_default() == members,
                _ => piece.take_file(id, members, row.unsigned("bytes")?, most),
            };
            if piece.is_part {
                return Ok(piece);
            }
            if goes {
                piece.nodes.push(id);
                piece.removed.nodes += 1;
                *gone_of.entry(up).or_default() += 1;
            }
        }
        Ok(piece)
    }

    /// Whether the file goes; of one that is too much for a piece of its own, a part.
    fn take_file(&mut self, id: &'a str, versions: u64, bytes: u64, most: u64) -> bool {
        let is_first = self.files.is_empty();
        let fits = self.removed.versions + versions <= most && self.removed.bytes + bytes <= PIECE_BYTES;
        if !is_first && !fits {
            return false;
        }
        self.files.push(id);
        self.is_part = versions > most;
        self.removed.versions += versions.min(most);
        self.removed.bytes += bytes;
        !self.is_part
    }
}
