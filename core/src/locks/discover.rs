//! Which locks cover a node, and which the members of a folder.

use super::rows::{Lock, columns};
use super::{Depth, MAX_SHOWN};
use crate::error::Result;
use crate::ids::NodeId;
use crate::ports::{Row, Statement, Timestamp};
use crate::tree::{Address, walk};

/// The locks that cover the node at the way ?2, which has ?5 names, and with ?6 those on its members.
const COVERING: &str = concat!(
    walk!(),
    ", top (id) as (
        select id from walk where depth = ?5
    ), up (id) as (
        select id from top
        union
        select n.parent_id from up u cross join nodes n where n.id = u.id
    ), found (id, below) as (
        select lk.id, 0 from up u cross join locks lk on lk.node_id = u.id
         where lk.depth = 'infinity' or u.id = (select id from top)
        union all
        select lk.id, 1 from locks lk cross join nodes n on n.id = lk.node_id
         where ?6 and lk.space_id = ?1 and lk.expires_at > ?4
           and n.parent_id = (select id from top) and n.trashed_at is null
    ) select ",
    columns!(),
    ", (select f.below from found f where f.id = lk.id) as below
      from locks lk where lk.space_id = ?1 and lk.expires_at > ?4 and +lk.id in (select id from found) order by lk.id"
);

/// Asks for the locks that cover what stands at the address, and with `members` for those on what is in it;
/// [`Covering::read`] understands the answer.
pub fn discover(address: &Address, now: Timestamp, members: bool) -> Statement {
    Statement::new(COVERING)
        .bind(&address.space)
        .bind(address.way())
        .bind(address.token.hash().to_string())
        .bind(now)
        .bind(address.path.depth() as u64)
        .bind(i64::from(members))
}

/// Locks of a node and its members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Covering {
    locks: Vec<(Lock, bool)>,
}

impl Covering {
    /// Reads the rows of [`discover`].
    pub fn read(rows: &[Row]) -> Result<Self> {
        let locks = rows.iter().map(|row| Ok((Lock::read(row)?, row.integer("below")? == 1)));
        Ok(Self { locks: locks.collect::<Result<_>>()? })
    }

    /// All that cover the node at the address.
    pub(super) fn all(&self) -> impl Iterator<Item = &Lock> {
        self.locks.iter().filter(|(_, below)| !below).map(|(lock, _)| lock)
    }

    /// Those that cover the node at the address; at most [`MAX_SHOWN`].
    pub fn top(&self) -> impl Iterator<Item = &Lock> {
        self.all().take(MAX_SHOWN)
    }

    /// Those that cover a member of it; as many.
    pub fn member(&self, node: &NodeId) -> impl Iterator<Item = &Lock> {
        let reaches =
            move |lock: &Lock, below: bool| lock.node == *node || (!below && lock.depth == Depth::Infinity);
        self.locks
            .iter()
            .filter(move |(lock, below)| reaches(lock, *below))
            .map(|(lock, _)| lock)
            .take(MAX_SHOWN)
    }
}
