//! Recording: the statements that end the batch of every commit that changes a space's nodes.
//!
//! They raise the space's `change_seq`, write one row for the top of each tree that changed, and give the folders above
//! new entity tags. A few rows that are too old go at the same time, so that the table needs no sweep.

use super::What;
use crate::error::Result;
use crate::files::for_each_piece;
use crate::ids::SpaceId;
use crate::manifest;
use crate::ports::{Statement, Timestamp};

/// How long changes are kept: a laptop that was away for a season goes on where it was.
const KEPT_SECS: i64 = 90 * 24 * 60 * 60;
/// How many commits are kept: some 15 MB of rows.
const KEPT_COMMITS: u64 = 100_000;
/// How many of the oldest rows a commit looks at, beside twice as many as it writes.
const LOOKED_AT: u64 = 16;

/// What a commit did to one node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) what: What,
    pub(crate) id: &'a str,
    pub(crate) is_folder: bool,
    /// Whether all below it is meant too, as rows of their own aren't written for that.
    pub(crate) subtree: bool,
    /// The folder that it was in before.
    pub(crate) from: Option<&'a str>,
}

impl<'a> Record<'a> {
    /// Of a file in its place.
    pub(crate) fn of_file(what: What, id: &'a str) -> Self {
        Self { what, id, is_folder: false, subtree: false, from: None }
    }
}

/// The next number. What is too old is looked for among the oldest rows only.
const NEXT: &str = "update spaces set change_seq = change_seq + 1,
       changes_gone_seq = coalesce(
         (select max(o.seq) from (
            select changes.seq, changes.at from changes
             where changes.space = spaces.n order by changes.seq, changes.place limit ?4) o
           where o.at < ?2 or o.seq <= spaces.change_seq - ?3),
         changes_gone_seq)
 where id = ?1 returning change_seq";

const FORGET: &str = "delete from changes
 where space = (select n from spaces where id = ?1)
   and seq <= (select changes_gone_seq from spaces where id = ?1)";

/// ?2 is `[[place, id, what, is folder, subtree, from], …]`.
const ROWS: &str = "insert into changes (space, seq, place, node_id, what, is_folder, subtree, from_id, at)
    select s.n, s.change_seq, json_extract(e.value, '$[0]'), json_extract(e.value, '$[1]'),
           json_extract(e.value, '$[2]'), json_extract(e.value, '$[3]'), json_extract(e.value, '$[4]'),
           json_extract(e.value, '$[5]'), ?3
      from spaces s cross join json_each(?2) e where s.id = ?1";

/// Gives the folders ?2 and all above them the number of this commit.
const TAGS: &str = "update nodes set changed_seq = (select change_seq from spaces where id = ?1)
 where id in (
   with recursive up (id) as (
     select value from json_each(?2)
     union
     select n.parent_id from up u cross join nodes n where n.id = u.id
   ) select id from up)";

/// The end of a commit: what it changed, and the folders that it changed: those that nodes came to or left, and folders
/// that are somewhere else now. The statements must run when all nodes have their places.
pub(crate) fn record(
    space: &SpaceId,
    now: Timestamp,
    changes: &[Record<'_>],
    folders: &[&str],
) -> Result<Vec<Statement>> {
    let next = Statement::new(NEXT)
        .bind(space)
        .bind(now.plus_secs(-KEPT_SECS))
        .bind(KEPT_COMMITS)
        .bind(LOOKED_AT + 2 * changes.len() as u64);
    let mut statements = vec![next, Statement::new(FORGET).bind(space)];
    let rows = changes.iter().enumerate().map(|(place, change)| {
        (place, change.id, change.what.name(), change.is_folder, change.subtree, change.from)
    });
    statements.extend(for_each_piece(rows, |json| Statement::new(ROWS).bind(space).bind(json).bind(now))?);
    if !folders.is_empty() {
        statements.push(Statement::new(TAGS).bind(space).bind(manifest::to_json(&folders)?));
    }
    Ok(statements)
}
