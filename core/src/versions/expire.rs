//! Versions that the space's policy keeps no longer. They go in the commit that makes a newer one, a bounded number at a
//! time; what is never saved again, a sweep finds.
//!
//! Kept are the current version, those with a label, the newest ones up to the policy's number, and those that were
//! replaced within the policy's days: a version's age is the time since then, so that the first save in a year doesn't
//! take the old state away at once.

use crate::changes::{Record, What, record};
use crate::error::Result;
use crate::ids::{NodeId, SpaceId};
use crate::ports::{Db, Host, Platform, Statement, Timestamp};

use super::delete::remove_loose_blobs;

/// The most versions that one commit removes: a save must not take long because an owner has lowered a limit.
const MAX_REMOVED: u64 = 100;

/// How many nodes a step of the sweep looks at.
const SWEPT_NODES: u64 = 500;

/// `excess`: at most ?3 versions of the file ?1, the oldest first, that are kept no longer at the time ?2. Versions of a
/// file have times of their own, so one bound serves for both limits, and the index finds what is below it. A limit or an
/// offset can't name columns, only subqueries.
macro_rules! excess {
    () => {
        "with excess (id, blob_id) as (
            select v.id, v.blob_id
              from nodes n cross join spaces s on s.id = n.space_id cross join versions v on v.node_id = n.id
             where n.id = ?1 and v.id <> n.version_id and v.label is null and v.created_at < max(
                     coalesce((select max(r.created_at) from versions r
                                where r.node_id = ?1 and r.created_at <= ?2 - s.versions_days * 86400000), 0),
                     coalesce((select k.created_at from versions k where k.node_id = ?1 and k.label is null
                                order by k.created_at desc
                                limit (select count(p.versions_kept)
                                         from nodes o cross join spaces p on p.id = o.space_id where o.id = ?1)
                               offset coalesce((select p.versions_kept
                                         from nodes o cross join spaces p on p.id = o.space_id where o.id = ?1), 1) - 1
                              ), 0))
             order by v.created_at limit ?3
        ) "
    };
}

const LOOSEN_BLOBS: &str =
    concat!(excess!(), "insert into loose_blobs (id) select distinct blob_id from excess");

const FREE_BYTES: &str = concat!(
    excess!(),
    "update spaces set used_bytes = used_bytes - (
        select coalesce(sum(b.size_bytes), 0) from excess cross join blobs b on b.id = excess.blob_id)
      where id = (select space_id from nodes where id = ?1)"
);

const VERSIONS: &str = concat!(excess!(), "delete from versions where id in (select id from excess)");

/// The next ?3 files behind the key ?1, and whether one has versions that are kept no longer at the time ?2.
const SWEEP: &str = "select n.n, n.id, n.space_id, n.parent_id,
        coalesce((select count(*) from versions v where v.node_id = n.id and v.label is null)
                 > s.versions_kept, 0)
        or coalesce((select min(v.created_at) from versions v
                      where v.node_id = n.id and v.label is null and v.id <> n.version_id)
                    < (select max(r.created_at) from versions r
                        where r.node_id = n.id and r.created_at <= ?2 - s.versions_days * 86400000), 0) as has_excess
   from nodes n cross join spaces s on s.id = n.space_id
  where n.n > ?1 and n.kind = 'file'
  order by n.n limit ?3";

/// Removes versions of a file that are kept no longer, with what only they needed. For a batch that has given the file its
/// newest version already.
pub(crate) fn remove_excess(node: &NodeId, now: Timestamp) -> Vec<Statement> {
    let on_excess = |sql: &'static str| Statement::new(sql).bind(node).bind(now).bind(MAX_REMOVED);
    let mut statements = vec![on_excess(LOOSEN_BLOBS), on_excess(FREE_BYTES), on_excess(VERSIONS)];
    statements.extend(remove_loose_blobs());
    statements
}

/// A step of the sweep over all files of all spaces, behind the key `after`; returns where the next one begins, None at
/// the end. For maintenance: no request asks for it, and nobody's rights are checked. Safe to repeat.
pub async fn expire<P: Platform>(platform: &P, after: u64) -> Result<Option<u64>> {
    let now = platform.host().now();
    let page = Statement::new(SWEEP).bind(after).bind(now).bind(SWEPT_NODES);
    let rows = platform.db().read(vec![page]).await?.pop().unwrap_or_default();
    for row in &rows {
        if row.integer("has_excess")? == 1 {
            let node = crate::tree::id(row, "id", NodeId::parse)?;
            let space = crate::tree::id(row, "space_id", SpaceId::parse)?;
            let mut batch = remove_excess(&node, now);
            let change = Record::of_file(What::Updated, node.as_str());
            batch.extend(record(&space, now, &[change], &[row.text("parent_id")?])?);
            platform.db().write(batch).await?;
        }
    }
    let last = rows.last().map(|row| row.unsigned("n")).transpose()?;
    Ok(last.filter(|_| rows.len() as u64 == SWEPT_NODES))
}
