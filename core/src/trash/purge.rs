//! Purging: rows of the trash go for good, in one batch.
//!
//! Nodes, all of their versions, blobs that no other version has, and pages that no other blob lists. Bytes stay where
//! they are: what may go of those, a sweep decides.

use super::Top;
use crate::auth::{self, Caller, Right};
use crate::changes::{Record, record};
use crate::error::{Conflict, Error, Result};
use crate::ids::{NodeId, SpaceId};
use crate::manifest;
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::token::Token;
use crate::versions::remove_loose_blobs;

/// The most nodes, and the most versions, that one purge removes: what a database does in well under a second.
pub const MAX_PURGED_NODES: u64 = 10_000;

/// So often is begun again, when others keep changing the trash.
const ATTEMPTS: usize = 20;

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

/// Purges. Two round trips; one where there is nothing to purge.
pub async fn purge<P: Platform>(platform: &P, token: &Token, space: &SpaceId, what: &Purged) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let (caller, tops) = find(platform, token, space, what).await?;
        if tops.is_empty() {
            return Ok(());
        }
        let changes: Vec<Record<'_>> = tops.iter().map(Top::purged).collect();
        let changes = record(space, platform.host().now(), &changes, &[])?;
        let tops = manifest::to_json(&tops.iter().map(|top| &top.id).collect::<Vec<_>>())?;
        match commit(platform, token, space, &caller, (&tops, changes)).await {
            // Whoever may not write any more is told so when the trash is read again.
            Err(DbError::Violated(why)) if why == "tree_changed" || why == "access_gone" => {}
            Err(DbError::Violated(why)) if why == "too_many_nodes" => return Err(too_many()),
            done => return Ok(done?),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

const ONE: &str = concat!(
    "select n.id, n.kind from nodes n where n.id = ?2 and n.space_id = ?1 and n.trashed_at is not null and ",
    was_in_scope!("?3")
);

const ALL: &str = concat!(
    "select n.id, n.kind from nodes n where n.space_id = ?1 and n.trashed_at is not null and ",
    was_in_scope!("?3"),
    " limit ?2"
);

/// Who asks, and the tops of what is to be purged.
async fn find<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    what: &Purged,
) -> Result<(Caller, Vec<Top>)> {
    let tops = match what {
        Purged::Node(id) => Statement::new(ONE).bind(space).bind(id),
        Purged::Everything => Statement::new(ALL).bind(space).bind(MAX_PURGED_NODES + 1),
    };
    let tops = tops.bind(token.hash().to_string());
    let batch = vec![auth::look_up_nodes(token, space, platform.host().now()), tops];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let caller = auth::authorise(rows().first(), Right::Write)?;
    let tops = rows().iter().map(Top::read).collect::<Result<Vec<Top>>>()?;
    if tops.is_empty() && matches!(what, Purged::Node(_)) {
        return Err(Error::NotFound);
    }
    if tops.len() as u64 > MAX_PURGED_NODES {
        return Err(too_many());
    }
    Ok((caller, tops))
}

/// Commits.
async fn commit<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    caller: &Caller,
    (tops, changes): (&str, Vec<Statement>),
) -> Result<(), DbError> {
    let now = platform.host().now();
    let access =
        format!("insert into guard (why) select 'access_gone' where not {}", auth::STILL_WRITES_NODES);
    let hash = token.hash().to_string();
    let on_tops = |sql: &'static str| Statement::new(sql).bind(tops);
    let mut batch = vec![
        Statement::new(access).bind(hash.as_str()).bind(space).bind(now).bind(caller.folder.as_deref()),
        on_tops(STILL_TRASHED).bind(space).bind(hash),
        on_tops(LIMIT).bind(MAX_PURGED_NODES),
    ];
    batch.extend(remove(tops, space));
    batch.extend(changes);
    write_once(platform.db(), batch, async || is_gone(platform, tops).await).await
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

fn too_many() -> Error {
    Error::TooManyNodes { verb: "purge", limit: MAX_PURGED_NODES }
}
