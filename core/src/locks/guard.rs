//! Which changes a lock refuses: the guard in every commit, and the look before it.
//!
//! - Changing a node's content or properties, or a folder's list of members, needs the tokens of the locks on it, and
//!   of those above it that reach down to it.
//! - Deleting, moving away or replacing a tree needs those of its top and of its folder, and of every lock in the tree.
//!   These are found upwards, from the space's locks, which are few, and not down through the tree.
//! - Of shared locks, the token of one is enough.
//!
//! A copy's source isn't touched. Where a space has no locks, all of this is one look into an index.

use super::rows::{Lock, columns};
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;
use crate::tree::{Address, walk};

/// The nodes that a change touches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Touched {
    /// Whose content, properties or list of members changes.
    pub(crate) nodes: Vec<String>,
    /// Which go with all that is below.
    pub(crate) trees: Vec<String>,
}

/// `climb`: every lock's node of the space ?1 at the time ?4, with all that is above, if ?5, a JSON array of the tops of
/// trees, isn't empty.
macro_rules! climb {
    () => {
        "climb (node, id) as (
            select lk.node_id, lk.node_id from locks lk where lk.space_id = ?1 and lk.expires_at > ?4 and ?5 <> '[]'
            union
            select c.node, n.parent_id from climb c cross join nodes n where n.id = c.id
        )"
    };
}
pub(super) use climb;

/// `blocking`: the locks that keep the token ?3, which submits the locks ?6, from touching the nodes that `up` begins
/// with. Of `up`, `$seed` is the beginning.
macro_rules! blocking {
    ($seed:literal) => {
        concat!(
            "up (top, id) as (
                ",
            $seed,
            "
                union
                select u.top, n.parent_id from up u cross join nodes n where n.id = u.id
            ), cover (top, lock, scope, held) as (
                select u.top, lk.id, lk.scope,
                       lk.account_id = (select account_id from tokens where hash = ?3)
                         and lk.id in (select value from json_each(?6))
                  from up u cross join locks lk on lk.node_id = u.id
                 where lk.expires_at > ?4 and (lk.depth = 'infinity' or u.id = u.top)
            ), blocking (lock) as (
                select c.lock from cover c where not c.held
                   and not (c.scope = 'shared' and exists (select 1 from cover h where h.top = c.top and h.held))
            ) "
        )
    };
}

/// The unary plus keeps the space's locks in the outer loop: where there are none, nothing else is looked at.
macro_rules! blocked {
    () => {
        " from locks lk where lk.space_id = ?1 and lk.expires_at > ?4 and +lk.id in (select lock from blocking)"
    };
}

macro_rules! touching {
    () => {
        concat!(
            "with recursive ",
            climb!(),
            ", ",
            blocking!(
                "select value, value from json_each(?2)
                union
                select c.node, c.node from climb c where c.id in (select value from json_each(?5))"
            )
        )
    };
}

/// Refuses what touches the nodes ?2 and the trees ?5.
const GUARD: &str = concat!(
    "insert into guard (why) select 'locked' where exists (",
    touching!(),
    "select 1",
    blocked!(),
    ")"
);

/// The locks that do.
const BLOCKING: &str = concat!(touching!(), "select ", columns!(), blocked!(), " order by lk.id limit 100");

/// Those that keep from changing what stands at the way ?2, or the folder where it is to stand.
const BLOCKING_AT: &str = concat!(
    walk!(),
    ", ",
    blocking!("select id, id from walk where depth = (select max(depth) from walk)"),
    "select ",
    columns!(),
    blocked!(),
    " order by lk.id limit 100"
);

/// Removes the locks in the trees ?5.
const REMOVE: &str = concat!(
    "delete from locks where space_id = ?1 and expires_at > ?4 and +node_id in (with recursive ",
    climb!(),
    "select c.node from climb c where c.id in (select value from json_each(?5)))"
);

impl Touched {
    /// One node.
    pub(crate) fn node(id: impl ToString) -> Self {
        Self { nodes: vec![id.to_string()], trees: Vec::new() }
    }

    fn bind(&self, sql: &'static str, token: &Token, space: &SpaceId, now: Timestamp) -> Result<Statement> {
        Ok(Statement::new(sql)
            .bind(space)
            .bind(manifest::to_json(&self.nodes)?)
            .bind(token.hash().to_string())
            .bind(now)
            .bind(manifest::to_json(&self.trees)?)
            .bind(token.submitted().tokens()))
    }
}

/// Statements of a commit: refuse it, by `if_failed` where the request's conditions don't hold, and by `locked` where it
/// touches what a lock covers.
pub(crate) fn guards(
    token: &Token,
    space: &SpaceId,
    now: Timestamp,
    touched: &Touched,
) -> Result<Vec<Statement>> {
    let mut guards = Vec::from_iter(token.submitted().guard(space, now));
    guards.push(touched.bind(GUARD, token, space, now)?);
    Ok(guards)
}

/// Statements of a first batch: they ask what [`check`] decides by.
pub(crate) fn look(address: &Address, now: Timestamp) -> Vec<Statement> {
    let token = &address.token;
    let blocking = Statement::new(BLOCKING_AT)
        .bind(&address.space)
        .bind(address.way())
        .bind(token.hash().to_string())
        .bind(now)
        .bind("[]")
        .bind(token.submitted().tokens());
    [blocking].into_iter().chain(conditions(address, now)).collect()
}

/// Decides whether the content, the properties or the place may change, by the rows of [`look`]; `holds` are those of its
/// second statement, if it has one.
pub(crate) fn check(token: &Token, blocking: &[Row], holds: &[Row]) -> Result<()> {
    hold(token, holds)?;
    locked(blocking)
}

/// A statement of a batch that reads: it asks what [`hold`] decides by. None for a request without conditions.
pub(crate) fn conditions(address: &Address, now: Timestamp) -> Option<Statement> {
    address.token.submitted().look(&address.space, now)
}

/// Decides whether the request's conditions hold; `holds` are the rows of [`conditions`], if there are any.
pub(crate) fn hold(token: &Token, holds: &[Row]) -> Result<()> {
    if !token.submitted().lists.is_empty() {
        let row = holds.first().ok_or_else(|| Error::Internal("conditions without an answer".to_owned()))?;
        if row.integer("holds")? != 1 {
            return Err(Error::PreconditionFailed);
        }
    }
    Ok(())
}

/// The error for a commit that `locked` has refused; none where the locks have gone meanwhile. One round trip.
pub(crate) async fn refusal<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    touched: &Touched,
) -> Result<()> {
    let look = touched.bind(BLOCKING, token, space, platform.host().now())?;
    let results = platform.db().read(vec![look]).await?;
    locked(results.first().map(Vec::as_slice).unwrap_or_default())
}

fn locked(blocking: &[Row]) -> Result<()> {
    let roots: Vec<_> = Lock::read_all(blocking)?.into_iter().map(|lock| lock.root).collect();
    if roots.is_empty() { Ok(()) } else { Err(Error::Locked { roots }) }
}

/// A statement of a commit that moves trees away, before it does: their locks don't go with them.
pub(crate) fn remove_with(space: &SpaceId, now: Timestamp, trees: &[String]) -> Result<Statement> {
    let unused = "";
    let trees = manifest::to_json(&trees)?;
    Ok(Statement::new(REMOVE).bind(space).bind(unused).bind(unused).bind(now).bind(trees))
}
