//! Purging: rows of the trash go for good.
//!
//! Nodes, all of their versions, blobs that no other version has, and pages that no other blob lists. Bytes stay where
//! they are: what may go of those, a sweep decides.
//!
//! What is small goes in one batch. What is larger is out of the trash with one commit as well, under the hidden roots of a
//! job, which takes it apart; the quota gets its bytes back as the rows go.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Top;
use super::hidden::hide;
use super::pieces::remove_piece;
use crate::auth::{self, Caller, Right};
use crate::changes::{Record, record};
use crate::error::{Conflict, Error, Result};
use crate::ids::{JobId, NodeId, SpaceId};
use crate::jobs::{self, By, Claimed, Job, Step, Work};
use crate::manifest;
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Platform, Statement, Timestamp};
use crate::token::Token;
use crate::versions::remove_loose_blobs;

/// The most nodes, and the most versions, that go in one batch: what a database does in well under a second. Of more than so
/// many tops, the others leave the trash by the job.
pub const MAX_PURGED_NODES: u64 = 10_000;

/// So often is begun again, when others keep changing the trash.
const ATTEMPTS: usize = 20;

/// What a purge has left in the trash: more tops than one batch takes out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// The space.
    pub space: SpaceId,
    /// What was deleted by then, in milliseconds since 1970, goes; what was deleted since doesn't.
    pub before: i64,
}

/// What to purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purged {
    /// One node of the trash, with all below.
    Node(NodeId),
    /// All that is in the trash, as far as the token reaches.
    Everything,
}

/// `tree`: the nodes ?1, a JSON array of ids, and all below.
macro_rules! tree {
    () => {
        "with recursive tree (id) as (
            select value from json_each(?1)
            union all
            select k.id from tree t cross join nodes k where k.parent_id = t.id and k.trashed_at is null
        ) "
    };
}

/// Refuses if one of ?1 isn't in the trash of the space ?2 any more, or not in that of the token ?3.
const STILL_TRASHED: &str = concat!(
    "insert into guard (why)
    select 'tree_changed' where (
        select count(*) from json_each(?1) e cross join nodes n on n.id = e.value
         where n.space_id = ?2 and n.trashed_at is not null and ",
    was_in_scope!("?3"),
    ") <> json_array_length(?1)"
);

/// Refuses too many nodes or versions; the recursion ends where it has met one node too many.
const LIMIT: &str = "insert into guard (why)
    with recursive tree (id) as (
        select value from json_each(?1)
        union all
        select k.id from tree t cross join nodes k where k.parent_id = t.id and k.trashed_at is null
        limit ?2 + 1
    ) select 'too_many_nodes' where (select count(*) from tree) > ?2
        or (select count(*) from tree t cross join versions v on v.node_id = t.id) > ?2";

const LOOSEN_BLOBS: &str = concat!(
    tree!(),
    "insert into loose_blobs (id) select distinct v.blob_id from tree t cross join versions v on v.node_id = t.id"
);

/// What every version counted.
const FREE_BYTES: &str = concat!(
    tree!(),
    "update spaces set used_bytes = used_bytes - (
        select coalesce(sum(b.size_bytes), 0)
          from tree t cross join versions v on v.node_id = t.id cross join blobs b on b.id = v.blob_id)
      where id = ?2"
);

const VERSIONS: &str = concat!(tree!(), "delete from versions where node_id in (select id from tree)");
const NODES: &str = concat!(tree!(), "delete from nodes where id in (select id from tree)");

/// Purges: two round trips; one where there is nothing to purge. What is too large for a batch is handed to the job that
/// is returned, which is a third one.
pub async fn purge<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    what: &Purged,
) -> Result<Option<Job>> {
    attempts(platform, token, space, what, false).await
}

/// Has a job purge, however small it is.
pub async fn purge_by_job<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    what: &Purged,
) -> Result<Option<Job>> {
    attempts(platform, token, space, what, true).await
}

async fn attempts<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    what: &Purged,
    mut is_large: bool,
) -> Result<Option<Job>> {
    for _ in 0..ATTEMPTS {
        let now = platform.host().now();
        let (caller, mut tops) = find(platform, token, space, what, now, None).await?;
        if tops.is_empty() {
            return match what {
                Purged::Node(_) => Err(Error::NotFound),
                Purged::Everything => Ok(None),
            };
        }
        let too_many = tops.len() as u64 > MAX_PURGED_NODES;
        tops.truncate(usize::try_from(MAX_PURGED_NODES).unwrap_or(usize::MAX));
        let commit = Commit { token, space, caller: &caller, tops: &tops, now };
        is_large |= too_many;
        if !is_large {
            match commit.remove(platform).await? {
                Ok(()) => return Ok(None),
                Err(DbError::Violated(why)) if why == "too_many_nodes" => is_large = true,
                // Whoever may not write any more is told so when the trash is read again.
                Err(DbError::Violated(why)) if is_stale(&why) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        let rest = too_many.then(|| Rest { space: space.clone(), before: now.0 });
        match commit.hand_over(platform, rest).await? {
            Ok(job) => return Ok(Some(job)),
            Err(DbError::Violated(why)) if is_stale(&why) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// Whether a guard refused what was read, which has to be read again.
fn is_stale(why: &str) -> bool {
    why == "tree_changed" || why == "access_gone"
}

const ONE: &str = concat!(
    "select n.id, n.kind from nodes n where n.id = ?2 and n.space_id = ?1 and n.trashed_at is not null and ",
    was_in_scope!("?3")
);

const ALL: &str = concat!(
    "select n.id, n.kind from nodes n where n.space_id = ?1 and n.trashed_at is not null and ",
    was_in_scope!("?3"),
    " and n.trashed_at <= ?4 limit ?2"
);

/// Who asks, and the tops of what is to be purged: at most one more than go at once.
async fn find<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    what: &Purged,
    now: Timestamp,
    before: Option<i64>,
) -> Result<(Caller, Vec<Top>)> {
    let hash = token.hash().to_string();
    let tops = match what {
        Purged::Node(id) => Statement::new(ONE).bind(space).bind(id).bind(hash),
        Purged::Everything => Statement::new(ALL)
            .bind(space)
            .bind(MAX_PURGED_NODES + 1)
            .bind(hash)
            // Later than every time.
            .bind(before.unwrap_or(1 << 53)),
    };
    let batch = vec![auth::look_up_nodes(token, space, now), tops];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let caller = auth::authorise(rows().first(), Right::Write)?;
    let tops = rows().iter().map(Top::read).collect::<Result<Vec<Top>>>()?;
    Ok((caller, tops))
}

/// A step of the job: takes what was left out of the trash, as far as the token still may; then removes what it hides, piece
/// by piece.
pub async fn purge_step<P: Platform>(
    platform: &P,
    job: &Claimed,
    rest: Option<&Rest>,
    piece: u64,
) -> Result<Step> {
    let is_taken = job.checkpoint == Value::Bool(true);
    if let Some(rest) = rest.filter(|_| !is_taken) {
        let more = take(platform, job, rest).await?;
        return Ok(Step::More { progress: job.progress, checkpoint: Value::Bool(!more), after_secs: 0 });
    }
    let removed = remove_piece(platform, job, piece).await?;
    let progress = removed.add_to(job.progress);
    if removed.is_nothing() {
        return Ok(Step::Done { progress, result: Value::Null });
    }
    Ok(Step::More { progress, checkpoint: job.checkpoint.clone(), after_secs: 0 })
}

/// Takes as many more tops out of the trash as fit a batch; whether there may be more of them.
async fn take<P: Platform>(platform: &P, job: &Claimed, rest: &Rest) -> Result<bool> {
    let token = job.token(platform).await?;
    for _ in 0..ATTEMPTS {
        let now = platform.host().now();
        let (space, before) = (&rest.space, Some(rest.before));
        let (caller, mut tops) = find(platform, &token, space, &Purged::Everything, now, before).await?;
        if tops.is_empty() {
            return Ok(false);
        }
        let more = tops.len() as u64 > MAX_PURGED_NODES;
        tops.truncate(usize::try_from(MAX_PURGED_NODES).unwrap_or(usize::MAX));
        let commit = Commit { token: &token, space, caller: &caller, tops: &tops, now };
        let mut batch = vec![job.guard()];
        batch.extend(commit.guards(&commit.ids()?));
        batch.push(hide(tops.iter().map(|top| top.id.as_str()), &job.id)?);
        batch.extend(commit.changes()?);
        match platform.db().write(batch).await {
            Err(DbError::Violated(why)) if is_stale(&why) => {}
            done => return Ok(done.map(|_| more)?),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// What is to be purged, as it was read.
struct Commit<'a> {
    token: &'a Token,
    space: &'a SpaceId,
    caller: &'a Caller,
    tops: &'a [Top],
    now: Timestamp,
}

impl Commit<'_> {
    /// Removes all of it at once.
    async fn remove<P: Platform>(&self, platform: &P) -> Result<Result<(), DbError>> {
        let tops = self.ids()?;
        let mut batch = self.guards(&tops);
        batch.push(Statement::new(LIMIT).bind(tops.as_str()).bind(MAX_PURGED_NODES));
        batch.extend(remove(&tops, self.space));
        batch.extend(self.changes()?);
        Ok(write_once(platform.db(), batch, async || is_gone(platform, &tops).await).await)
    }

    /// Takes it out of the trash, for a job that removes it.
    async fn hand_over<P: Platform>(&self, platform: &P, rest: Option<Rest>) -> Result<Result<Job, DbError>> {
        let work = Work::Purge { rest };
        let lane = work.lane();
        let by =
            By::Account { account: &self.caller.account, space: Some(self.space), token: Some(self.token) };
        let (id, row) = jobs::row(platform.host(), &work, by, self.now)?;
        let mut batch = self.guards(&self.ids()?);
        batch.extend([hide(self.tops.iter().map(|top| top.id.as_str()), &id)?, row]);
        batch.extend(self.changes()?);
        let happened = async || is_there(platform, &id).await;
        let done = write_once(platform.db(), batch, happened).await;
        if done.is_ok() {
            jobs::wake(platform, lane, &id, 0).await;
        }
        let job = Job::new(id, &work, by, self.now)?;
        Ok(done.map(|()| job))
    }

    fn ids(&self) -> Result<String> {
        manifest::to_json(&self.tops.iter().map(|top| &top.id).collect::<Vec<_>>())
    }

    fn guards(&self, tops: &str) -> Vec<Statement> {
        let access =
            format!("insert into guard (why) select 'access_gone' where not {}", auth::STILL_WRITES_NODES);
        let hash = self.token.hash().to_string();
        vec![
            Statement::new(access)
                .bind(hash.as_str())
                .bind(self.space)
                .bind(self.now)
                .bind(self.caller.folder.as_deref()),
            Statement::new(STILL_TRASHED).bind(tops).bind(self.space).bind(hash),
        ]
    }

    fn changes(&self) -> Result<Vec<Statement>> {
        let changes: Vec<Record<'_>> = self.tops.iter().map(Top::purged).collect();
        record(self.space, self.now, &changes, &[])
    }
}

/// Removes the nodes `tops`, a JSON array of ids, with all below and all that only they needed.
pub(super) fn remove(tops: &str, space: &SpaceId) -> Vec<Statement> {
    let on_tops = |sql: &'static str| Statement::new(sql).bind(tops);
    let mut statements =
        vec![on_tops(LOOSEN_BLOBS), on_tops(FREE_BYTES).bind(space), on_tops(VERSIONS), on_tops(NODES)];
    statements.extend(remove_loose_blobs());
    statements
}

async fn is_gone<P: Platform>(platform: &P, tops: &str) -> Result<bool, DbError> {
    let look = "select 1 from json_each(?1) e cross join nodes n on n.id = e.value limit 1";
    let results = platform.db().read(vec![Statement::new(look).bind(tops)]).await?;
    Ok(results.iter().all(Vec::is_empty))
}

async fn is_there<P: Platform>(platform: &P, job: &JobId) -> Result<bool, DbError> {
    let look = Statement::new("select 1 from jobs where id = ?1").bind(job);
    Ok(platform.db().read(vec![look]).await?.iter().any(|rows| !rows.is_empty()))
}
