//! Versions that the space's policy keeps no longer. They go in the commit that makes a newer one, a bounded number at a
//! time; what is never saved again, a periodic job finds.
//!
//! Kept are the current version, those with a label, the newest ones up to the policy's number, and those that were
//! replaced within the policy's days: a version's age is the time since then, so that the first save in a year doesn't
//! take the old state away at once.

use serde_json::Value;

use super::delete::remove_loose_blobs;
use crate::changes::{Record, What, record};
use crate::error::Result;
use crate::ids::{NodeId, SpaceId};
use crate::jobs::{Claimed, Step};
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::tree;

/// The most versions that one commit removes: a save must not take long because an owner has lowered a limit.
const MAX_REMOVED: u64 = 100;

/// How many files a step of the sweep looks at.
const SWEPT_NODES: u64 = 500;
/// In how many batches it removes what it finds: some seconds of a database.
const SWEPT_AT_ONCE: usize = 50;

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

const COUNT: &str = concat!(excess!(), "select count(*) as removed from excess");

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
    let mut statements = [LOOSEN_BLOBS, FREE_BYTES, VERSIONS].map(|sql| excess(sql, node, now)).to_vec();
    statements.extend(remove_loose_blobs());
    statements
}

fn excess(sql: &'static str, node: &NodeId, now: Timestamp) -> Statement {
    Statement::new(sql).bind(node).bind(now).bind(MAX_REMOVED)
}

/// A step of the sweep over all files of all spaces. Nobody's rights are checked; safe to repeat.
pub async fn expire_step<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let now = platform.host().now();
    let after = job.checkpoint.as_u64().unwrap_or_default();
    let page = Statement::new(SWEEP).bind(after).bind(now).bind(SWEPT_NODES);
    let rows = platform.db().read(vec![page]).await?.pop().unwrap_or_default();
    let mut progress = job.progress;
    let more =
        |after: u64, progress| Ok(Step::More { progress, checkpoint: Value::from(after), after_secs: 0 });
    let mut batches = 0;
    for row in &rows {
        let key = row.unsigned("n")?;
        if row.integer("has_excess")? != 1 {
            continue;
        }
        loop {
            if batches == SWEPT_AT_ONCE {
                return more(key.saturating_sub(1), progress);
            }
            batches += 1;
            let removed = sweep(platform, job, row, now).await?;
            progress.items_done += removed;
            if removed < MAX_REMOVED {
                break;
            }
        }
    }
    match rows.last() {
        Some(last) if rows.len() as u64 == SWEPT_NODES => more(last.unsigned("n")?, progress),
        _ => Ok(Step::Done { progress, result: Value::Null }),
    }
}

/// Removes what a file has in excess, as far as one batch goes; how many versions that were.
async fn sweep<P: Platform>(platform: &P, job: &Claimed, row: &Row, now: Timestamp) -> Result<u64> {
    let node = tree::id(row, "id", NodeId::parse)?;
    let space = tree::id(row, "space_id", SpaceId::parse)?;
    let mut batch = vec![job.guard(), excess(COUNT, &node, now)];
    batch.extend(remove_excess(&node, now));
    let change = Record::of_file(What::Updated, node.as_str());
    batch.extend(record(&space, now, &[change], &[row.text("parent_id")?])?);
    let results = platform.db().write(batch).await?;
    let counted = results.get(1).and_then(|rows| rows.first());
    Ok(counted.map(|row| row.unsigned("removed")).transpose()?.unwrap_or_default())
}
