//! What has been in the trash for longer than the space's policy keeps it. It isn't shown and can't be restored; rows go
//! in the commits that fill the trash, a bounded number at a time, and by a sweep.

use super::Top;
use super::purge::{MAX_PURGED_NODES, remove};
use crate::changes::{Record, record};
use crate::error::{Conflict, Error, Result};
use crate::ids::SpaceId;
use crate::manifest;
use crate::ports::{Db, DbError, Host, Platform, Row, Statement, Timestamp};

/// The most nodes and versions that go along with a commit: it must not take long because others have deleted much.
const MAX_ALONG: u64 = 1000;
/// The most deleted nodes that are looked at for that.
const TOPS_ALONG: u64 = 20;
/// The same, for a step of the sweep.
const TOPS_SWEPT: u64 = 1000;

/// So often is begun again, when others keep changing the trash.
const ATTEMPTS: usize = 20;

/// The oldest ?4 nodes of the trash of the space ?1 that have expired at the time ?2, and how many nodes and versions
/// each comes to, counted up to ?3 of either.
const EXPIRED: &str = "select n.id, n.kind, (
        with recursive tree (id) as (
            select n.id
            union all
            select k.id from tree t cross join nodes k where k.parent_id = t.id and k.trashed_at is null
            limit ?3 + 1
        ) select count(*) + (select count(*) from (
            select 1 from tree t cross join versions v on v.node_id = t.id limit ?3 + 1)) from tree) as weight
   from nodes n
  where n.space_id = ?1 and n.trashed_at is not null
    and n.trashed_at <= (select ?2 - s.trash_days * 86400000 from spaces s where s.id = ?1)
  order by n.trashed_at limit ?4";

/// Refuses if one of ?1 hasn't expired in the space ?2 at the time ?3, or is gone: its owner may keep more now.
const STILL_EXPIRED: &str = "insert into guard (why)
    select 'tree_changed' where (
        select count(*) from json_each(?1) e cross join nodes n on n.id = e.value
         cross join spaces s on s.id = n.space_id
         where s.id = ?2 and n.trashed_at <= ?3 - s.trash_days * 86400000
    ) <> json_array_length(?1)";

/// Asks for what a commit is to remove along with its own; [`light`] understands the answer.
pub(crate) fn look(space: &SpaceId, now: Timestamp) -> Statement {
    Statement::new(EXPIRED).bind(space).bind(now).bind(MAX_ALONG).bind(TOPS_ALONG)
}

/// Of what was found, what a commit may remove along with its own.
pub(crate) fn light(rows: &[Row]) -> Result<Vec<Top>> {
    choose(rows, MAX_ALONG)
}

/// As many as come to no more than `most`. What is too heavy doesn't keep the others back.
fn choose(rows: &[Row], most: u64) -> Result<Vec<Top>> {
    let (mut chosen, mut weight) = (Vec::new(), 0);
    for row in rows {
        let more = weight + row.unsigned("weight")?;
        if more <= most {
            weight = more;
            chosen.push(Top::read(row)?);
        }
    }
    Ok(chosen)
}

/// The guard before, and the statements that remove what has expired. The commit records it: [`Top::purged`].
pub(crate) fn remove_expired(
    tops: &[Top],
    space: &SpaceId,
    now: Timestamp,
) -> Result<(Statement, Vec<Statement>)> {
    let tops = manifest::to_json(&tops.iter().map(|top| &top.id).collect::<Vec<_>>())?;
    let guard = Statement::new(STILL_EXPIRED).bind(tops.as_str()).bind(space).bind(now);
    Ok((guard, remove(&tops, space)))
}

/// Removes what has expired in a space, in one batch of at most 10,000 nodes and versions; returns how many deleted nodes
/// it was: none, and there is nothing more to do. For maintenance: no request asks for it, and nobody's rights are
/// checked. Safe to repeat.
pub async fn expire<P: Platform>(platform: &P, space: &SpaceId) -> Result<usize> {
    for _ in 0..ATTEMPTS {
        let now = platform.host().now();
        let look = Statement::new(EXPIRED).bind(space).bind(now).bind(MAX_PURGED_NODES).bind(TOPS_SWEPT);
        let rows = platform.db().read(vec![look]).await?.pop().unwrap_or_default();
        let tops = choose(&rows, MAX_PURGED_NODES)?;
        if tops.is_empty() {
            return Ok(0);
        }
        let (guard, removal) = remove_expired(&tops, space, now)?;
        let mut batch = vec![guard];
        batch.extend(removal);
        let changes: Vec<Record<'_>> = tops.iter().map(Top::purged).collect();
        batch.extend(record(space, now, &changes, &[])?);
        match platform.db().write(batch).await {
            Err(DbError::Violated(why)) if why == "tree_changed" => {}
            done => return Ok(done.map(|_| tops.len())?),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}
