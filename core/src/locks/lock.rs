//! Taking a lock. Where nothing stands at the address, an empty file is made in the same batch (RFC 4918 section 7.3).

use std::time::Duration;

use super::guard::{Touched, check, climb, guards, look};
use super::rows::{Lock, Root, columns};
use super::{DEFAULT_TIMEOUT, Depth, MAX_LOCKS, MAX_OWNER_BYTES, MAX_TIMEOUT, Scope};
use crate::auth::{self, Caller, Right};
use crate::error::{Conflict, Error, Result};
use crate::files::{Empty, empty};
use crate::ids::{BlobId, LockId, NodeId, VersionId};
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Platform, Statement, Timestamp};
use crate::tree::{Address, Kind, LIVES, Node, Resolved, resolve};

/// What lock to take.
#[derive(Debug, Clone)]
pub struct NewLock {
    /// On what.
    pub address: Address,
    /// Whom it keeps out.
    pub scope: Scope,
    /// How far down it reaches.
    pub depth: Depth,
    /// Whose it is, in the words of the client: an `owner` element of XML that means the same anywhere.
    pub owner: Option<String>,
    /// How long it is wanted; None where the client doesn't say.
    pub timeout: Option<Duration>,
    /// The media type of the file that is made where there is none.
    pub media_type: String,
}

/// A lock that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The lock.
    pub lock: Lock,
    /// Whether a file was made for it.
    pub created: bool,
}

/// After so many lost races something else is wrong.
const ATTEMPTS: usize = 100;

/// So many expired locks a new one removes: more than one, so that their number shrinks.
const REMOVED_AT_ONCE: i64 = 20;

/// `found`: the locks of the space ?1 that a new lock of the scope ?6 can't stand beside. ?2 has where it begins,
/// `[node or null, node]`, twice the locked one or only the folder above; ?5 the locked node again, if it reaches down.
macro_rules! conflicting {
    () => {
        concat!(
            "with recursive ",
            climb!(),
            ", up (top, id) as (
                select json_extract(?2, '$[0]'), json_extract(?2, '$[1]')
                union
                select u.top, n.parent_id from up u cross join nodes n where n.id = u.id
            ), found (id) as (
                select lk.id from up u cross join locks lk on lk.node_id = u.id
                 where lk.depth = 'infinity' or u.id = u.top
                union
                select lk.id from climb c cross join locks lk on lk.node_id = c.node
                 where c.id in (select value from json_each(?5))
            ) "
        )
    };
}

macro_rules! conflicts {
    () => {
        " from locks lk where lk.space_id = ?1 and lk.expires_at > ?4 and (lk.scope = 'exclusive' or ?6 = 'exclusive')
           and +lk.id in (select id from found)"
    };
}

const GUARD: &str = concat!(
    "insert into guard (why) select 'lock_conflict' where exists (",
    conflicting!(),
    "select 1",
    conflicts!(),
    ")"
);

const CONFLICTS: &str =
    concat!(conflicting!(), "select ", columns!(), conflicts!(), " order by lk.id limit 100");

const INSERT: &str = "insert into locks
      (id, space_id, node_id, scope, depth, owner, account_id, token_id, created_at, expires_at)
    select ?1, ?2, ?4, ?5, ?6, ?7, k.account_id, k.id, ?8, ?9 from tokens k where k.hash = ?3";

const TOO_MANY: &str = "insert into guard (why) select 'too_many_locks'
    where (select count(*) from locks where space_id = ?1 and expires_at > ?2) >= ?3";

const REMOVE_EXPIRED: &str = "delete from locks where id in (
    select id from locks where space_id = ?1 and expires_at <= ?2 order by expires_at limit ?3)";

/// Takes a lock. Two round trips.
///
/// # Errors
/// [`Error::LockConflict`] where there is one that it can't stand beside, above or below; [`Error::Locked`] where the
/// folder of a file that is to be made is locked.
pub async fn lock<P: Platform>(platform: &P, request: &NewLock) -> Result<Locked> {
    if request.owner.as_ref().is_some_and(|owner| owner.len() > MAX_OWNER_BYTES) {
        return Err(Error::invalid("owner", format!("expected at most {MAX_OWNER_BYTES} bytes")));
    }
    let id = LockId::new(platform.host());
    for _ in 0..ATTEMPTS {
        if let Some(locked) = attempt(platform, request, &id).await? {
            return Ok(locked);
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// None where what was read has changed before the commit.
async fn attempt<P: Platform>(platform: &P, request: &NewLock, id: &LockId) -> Result<Option<Locked>> {
    let address = &request.address;
    let now = platform.host().now();
    let mut batch = vec![auth::look_up_at(address, now), resolve(address)];
    batch.extend(look(address, now));
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let caller = auth::authorise(rows(0).first(), Right::Write)?;
    let resolved = Resolved::read(rows(1), address)?;
    // What is there may be locked by others too, and a lock changes nothing of it.
    let blocking = if resolved.node.is_some() { &[] } else { rows(2) };
    check(&address.token, blocking, rows(3))?;

    let granted = Granted { request, id, now, expires_at: now.plus_secs(seconds(request.timeout)) };
    let (mut batch, node, ends) = match (&resolved.node, &resolved.parent) {
        (Some(node), parent) => {
            (granted.on(node, parent.as_ref())?, node.id.clone(), (Some(&node.id), &node.id))
        }
        (None, Some(parent)) => {
            let node = NodeId::new(platform.host());
            (granted.on_a_new_file(platform.host(), &caller, parent, &node)?, node, (None, parent))
        }
        (None, None) => return Err(Error::NotFound),
    };
    let is_folder = matches!(resolved.node, Some(Node { kind: Kind::Folder, .. }));
    let conflicts = |sql| granted.conflicts(sql, ends, is_folder.then_some(&node));
    batch.push(conflicts(GUARD));
    batch.extend(granted.insert(&node));
    let happened = async || -> Result<bool, DbError> {
        let look = Statement::new("select 1 from locks where id = ?1").bind(id);
        Ok(platform.db().read(vec![look]).await?.iter().any(|rows| !rows.is_empty()))
    };
    match write_once(platform.db(), batch, happened).await {
        Ok(()) => {
            let lock = granted.lock(node, &caller, is_folder);
            Ok(Some(Locked { lock, created: resolved.node.is_none() }))
        }
        Err(DbError::Violated(why)) => match why.as_str() {
            "if_failed" => Err(Error::PreconditionFailed),
            "too_many_locks" => Err(Error::TooManyLocks),
            "quota_exceeded" => Err(Error::QuotaExceeded),
            "lock_conflict" => {
                let found = platform.db().read(vec![conflicts(CONFLICTS)]).await?;
                let found = Lock::read_all(found.first().map(Vec::as_slice).unwrap_or_default())?;
                let roots: Vec<Root> = found.into_iter().map(|lock| lock.root).collect();
                if roots.is_empty() { Ok(None) } else { Err(Error::LockConflict { roots }) }
            }
            "access_gone" | "parent_gone" | "target_changed" | "locked" => Ok(None),
            _ => Err(DbError::Violated(why).into()),
        },
        Err(DbError::Duplicate(what)) if what.contains("nodes.name_nfc") => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// How long a lock stays that is wanted for so long.
pub(super) fn seconds(wanted: Option<Duration>) -> i64 {
    let granted = wanted.unwrap_or(DEFAULT_TIMEOUT).clamp(Duration::from_secs(1), MAX_TIMEOUT);
    i64::try_from(granted.as_secs()).unwrap_or(1)
}

/// A lock that is about to be taken.
struct Granted<'a> {
    request: &'a NewLock,
    id: &'a LockId,
    now: Timestamp,
    expires_at: Timestamp,
}

impl Granted<'_> {
    /// The beginning of the commit where the node is there.
    fn on(&self, node: &Node, parent: Option<&NodeId>) -> Result<Vec<Statement>> {
        let address = &self.request.address;
        // The node itself stands for the folder ?4 in whose scope the token must be. ?5 is its folder; a root has none.
        let guard = format!(
            "insert into guard (why) select why from (select case
               when not {} then 'access_gone'
               when not {LIVES}
                 or (select parent_id from nodes where id = ?4) is not coalesce(?5, '') then 'target_changed'
             end as why) where why is not null",
            auth::STILL_WRITES_IN
        );
        let mut batch = vec![
            Statement::new(guard)
                .bind(address.token.hash().to_string())
                .bind(&address.space)
                .bind(self.now)
                .bind(&node.id)
                .bind(parent),
        ];
        batch.extend(address.token.submitted().guard(&address.space, self.now));
        Ok(batch)
    }

    /// The same where a file is made.
    fn on_a_new_file(
        &self,
        host: &impl Host,
        caller: &Caller,
        parent: &NodeId,
        node: &NodeId,
    ) -> Result<Vec<Statement>> {
        let address = &self.request.address;
        let name = address.path.last().ok_or(Error::NotFound)?;
        let mut batch = guards(&address.token, &address.space, self.now, &Touched::node(parent))?;
        batch.extend(empty(&Empty {
            address,
            name,
            parent,
            node,
            version: &VersionId::new(host),
            blob: &BlobId::new(host),
            caller,
            media_type: &self.request.media_type,
            now: self.now,
        })?);
        Ok(batch)
    }

    fn conflicts(
        &self,
        sql: &'static str,
        ends: (Option<&NodeId>, &NodeId),
        folder: Option<&NodeId>,
    ) -> Statement {
        let NewLock { address, scope, depth, .. } = self.request;
        let ends = serde_json::json!([ends.0.map(NodeId::as_str), ends.1.as_str()]);
        let tree = folder.filter(|_| *depth == Depth::Infinity).map(NodeId::as_str);
        Statement::new(sql)
            .bind(&address.space)
            .bind(ends.to_string())
            .bind(address.token.hash().to_string())
            .bind(self.now)
            .bind(serde_json::Value::from_iter(tree.into_iter().collect::<Vec<_>>()).to_string())
            .bind(scope.name())
    }

    /// The end of the commit: the row, for which expired ones make room.
    fn insert(&self, node: &NodeId) -> [Statement; 3] {
        let NewLock { address, scope, depth, owner, .. } = self.request;
        [
            Statement::new(REMOVE_EXPIRED).bind(&address.space).bind(self.now).bind(REMOVED_AT_ONCE),
            Statement::new(TOO_MANY).bind(&address.space).bind(self.now).bind(MAX_LOCKS),
            Statement::new(INSERT)
                .bind(self.id)
                .bind(&address.space)
                .bind(address.token.hash().to_string())
                .bind(node)
                .bind(scope.name())
                .bind(depth.name())
                .bind(owner.clone())
                .bind(self.now)
                .bind(self.expires_at),
        ]
    }

    fn lock(&self, node: NodeId, caller: &Caller, is_folder: bool) -> Lock {
        let NewLock { address, scope, depth, owner, .. } = self.request;
        let names = address.path.names().iter().map(|name| name.as_str().to_owned()).collect();
        Lock {
            id: self.id.clone(),
            node,
            scope: *scope,
            depth: *depth,
            owner: owner.clone(),
            account: caller.account.clone(),
            created_at: self.now,
            expires_at: self.expires_at,
            root: Root { names: Some(names), is_folder },
        }
    }
}
