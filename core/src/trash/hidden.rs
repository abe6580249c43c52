//! Hidden roots: where trees are that a job takes apart, or puts together. Like the trash's they have no row, so that no
//! walk from or to a living root meets what hangs under them.
//!
//! - `purge/{job}/{n}`: the node with the key n, which the job removes with all below. A root for each, since names may
//!   be the same; one range of the index has all of a job's.
//! - `copy/{job}`: the copy that the job builds.

use crate::error::Result;
use crate::ids::JobId;
use crate::jobs::Claimed;
use crate::manifest;
use crate::ports::{Db, Platform, Statement};

/// The most roots of jobs, and the most nodes of each, that are adopted at once.
const ROOTS: u64 = 10;
const TOPS: u64 = 1000;

/// Whether no node has this id, but a job its nodes under it.
pub(crate) fn is_hidden(parent: &str) -> bool {
    parent.starts_with("purge/") || parent.starts_with("copy/")
}

/// The root of the copy that a job builds.
pub(crate) fn copy_root(job: &JobId) -> String {
    format!("copy/{job}")
}

/// Where the ids of the roots begin under which a job removes what is there, and what comes behind all of them.
pub(super) fn purge_roots(job: &JobId) -> (String, String) {
    // 0 is the character after the slash.
    (format!("purge/{job}/"), format!("purge/{job}0"))
}

/// Puts the nodes `ids` under the job's roots: they are gone for everybody else.
pub(super) fn hide<'a>(ids: impl Iterator<Item = &'a str>, job: &JobId) -> Result<Statement> {
    let hide = "update nodes set parent_id = ?2 || n, trashed_at = null, trashed_from = null
          where id in (select value from json_each(?1))";
    Ok(Statement::new(hide).bind(manifest::to_json(&ids.collect::<Vec<_>>())?).bind(purge_roots(job).0))
}

/// The roots of ?1 jobs that are over, or that a restored database doesn't know, as ranges: under `purge/` from each job's a
/// jump to the next one's; under `copy/` there is one node a job. (What a copy had built is under `purge/` already where its job
/// ended: migration 0012.)
const LEFT: &str = "with recursive probe (root) as (
        select min(parent_id) from nodes where parent_id >= 'purge/' and parent_id < 'purge0' and trashed_at is null
        union all
        select (select min(n.parent_id) from nodes n
                 where n.parent_id >= substr(p.root, 1, 42) || '0' and n.parent_id < 'purge0' and n.trashed_at is null)
          from probe p where p.root is not null
    ) select substr(p.root, 1, 42) as root from probe p
       where p.root is not null
         and not exists (select 1 from jobs j where j.id = substr(p.root, 7, 36) and j.finished_at is null)
      union all
      select n.parent_id from nodes n
       where n.parent_id >= 'copy/' and n.parent_id < 'copy0' and n.trashed_at is null
         and not exists (select 1 from jobs j where j.id = substr(n.parent_id, 6) and j.finished_at is null)
      limit ?1";

/// Puts what jobs have hidden that are over (cancelled, given up, forgotten) under the roots of this one; whether there was
/// anything. Two round trips, one where there wasn't.
pub(super) async fn adopt<P: Platform>(platform: &P, job: &Claimed) -> Result<bool> {
    let left = platform.db().read(vec![Statement::new(LEFT).bind(ROOTS)]).await?.pop().unwrap_or_default();
    if left.is_empty() {
        return Ok(false);
    }
    let mut batch = vec![job.guard()];
    for row in &left {
        let root = row.text("root")?;
        let adopt = "update nodes set parent_id = ?2 || n where id in (
            select a.id from nodes a where a.parent_id >= ?1 and a.parent_id < ?1 || '0' and a.trashed_at is null limit ?3)";
        let own = purge_roots(&job.id).0;
        batch.push(Statement::new(adopt).bind(root).bind(own).bind(TOPS));
    }
    platform.db().write(batch).await?;
    Ok(true)
}
