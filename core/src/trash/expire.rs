//! What has been in the trash for longer than the space's policy keeps it. It isn't shown and can't be restored; rows go
//! in the commits that fill the trash, a bounded number at a time, and by a periodic job.

use serde_json::Value;

use super::Top;
use super::hidden::{adopt, hide};
use super::pieces::{PIECE, remove_piece};
use super::purge::remove;
use crate::changes::{Record, record};
use crate::error::Result;
use crate::ids::SpaceId;
use crate::jobs::{Claimed, Step};
use crate::manifest;
use crate::ports::{Db, DbError, Host, Platform, Row, Statement, Timestamp};
use crate::tree;

/// The most nodes and versions that go along with a commit: it must not take long because others have deleted much.
const MAX_ALONG: u64 = 1000;
/// The most deleted nodes that are looked at for that.
const TOPS_ALONG: u64 = 20;
/// The most deleted nodes that the clean-up takes out of a trash at once.
const TOPS_SWEPT: u64 = 1000;
/// The most spaces that it looks at for them at once.
const SPACES_AT_ONCE: u64 = 200;

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

/// The next ?3 spaces behind the key ?1 that don't keep their trash for ever, and whether something in it has expired at the
/// time ?2.
const SPACES: &str = "select s.n, s.id, exists (
        select 1 from nodes n
         where n.space_id = s.id and n.trashed_at is not null and n.trashed_at <= ?2 - s.trash_days * 86400000
      ) as has_expired
   from spaces s where s.n > ?1 and s.trash_days is not null order by s.n limit ?3";

/// The oldest ?3 nodes of the trash of the space ?1 that have expired at the time ?2.
const OLDEST: &str = "select n.id, n.kind from nodes n
  where n.space_id = ?1 and n.trashed_at is not null
    and n.trashed_at <= (select ?2 - s.trash_days * 86400000 from spaces s where s.id = ?1)
  order by n.trashed_at limit ?3";

/// A step of the clean-up of all trashes: takes what has expired in a space out of its trash, however large it is, and removes
/// it piece by piece before it looks for more. Before all of that it removes what jobs have left behind that are over. Nobody's
/// rights are checked.
pub async fn expire_step<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let removed = remove_piece(platform, job, PIECE).await?;
    let progress = removed.add_to(job.progress);
    let more = |checkpoint| Ok(Step::More { progress, checkpoint, after_secs: 0 });
    if !removed.is_nothing() {
        return more(job.checkpoint.clone());
    }
    let Some(after) = job.checkpoint.as_u64() else {
        let found = adopt(platform, job).await?;
        return more(if found { Value::Null } else { Value::from(0) });
    };
    let now = platform.host().now();
    let page = Statement::new(SPACES).bind(after).bind(now).bind(SPACES_AT_ONCE);
    let rows = platform.db().read(vec![page]).await?.pop().unwrap_or_default();
    for row in &rows {
        if row.integer("has_expired")? == 1 {
            take(platform, job, &tree::id(row, "id", SpaceId::parse)?, now).await?;
            return more(Value::from(row.unsigned("n")?.saturating_sub(1)));
        }
    }
    match rows.last() {
        Some(last) if rows.len() as u64 == SPACES_AT_ONCE => more(Value::from(last.unsigned("n")?)),
        _ => Ok(Step::Done { progress, result: Value::Null }),
    }
}

/// Takes the oldest nodes that have expired out of the trash of a space. Where an owner keeps more just then, nothing happens.
async fn take<P: Platform>(platform: &P, job: &Claimed, space: &SpaceId, now: Timestamp) -> Result<()> {
    let look = Statement::new(OLDEST).bind(space).bind(now).bind(TOPS_SWEPT);
    let rows = platform.db().read(vec![look]).await?.pop().unwrap_or_default();
    let tops = rows.iter().map(Top::read).collect::<Result<Vec<Top>>>()?;
    let ids = manifest::to_json(&tops.iter().map(|top| &top.id).collect::<Vec<_>>())?;
    let changes: Vec<Record<'_>> = tops.iter().map(Top::purged).collect();
    let mut batch = vec![job.guard(), Statement::new(STILL_EXPIRED).bind(ids).bind(space).bind(now)];
    batch.push(hide(tops.iter().map(|top| top.id.as_str()), &job.id)?);
    batch.extend(record(space, now, &changes, &[])?);
    match platform.db().write(batch).await {
        // They are looked for again.
        Err(DbError::Violated(why)) if why == "tree_changed" => Ok(()),
        done => Ok(done.map(|_| ())?),
    }
}
