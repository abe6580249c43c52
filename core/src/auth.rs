//! Who may do what: the only place that decides it. Deny by default.
//!
//! Authentication, the role in a space and what the token is limited to are one statement that joins the request's
//! first batch, so a revoked token or a changed role takes effect with the next request. Writes check again inside
//! their commit ([`STILL_WRITES_IN`], [`STILL_WRITES_NODES`]). Whoever isn't a member gets the same answer as for a
//! space that doesn't exist, and so does a token for what lies outside of its scope.
//!
//! A token's limits never change. A commit need not ask again by which protocol it came.

use crate::error::{Error, Result};
use crate::ids::{AccountId, SpaceId};
use crate::ports::{Row, Rows, Statement, Timestamp};
use crate::token::Token;
use crate::tree::{Address, walk};

/// What a request wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// See content and metadata.
    Read,
    /// Change them.
    Write,
    /// See and end what others hold; change the space itself.
    Own,
}

/// Who asks, and in which space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account that the token belongs to.
    pub account: AccountId,
    /// The space's integer key, which chunks refer to.
    pub space_key: i64,
    /// What the quota leaves; None where there is none.
    pub free_bytes: Option<i64>,
    /// The folder that the token is limited to; None where it reaches the whole space.
    pub folder: Option<String>,
    /// How many days the space keeps its trash; None: for ever.
    pub trash_days: Option<i64>,
}

/// The token's row, the role that its account has in the space ?1, and whether its scope reaches what is asked for.
/// The token's hash is ?3, its protocol ?4, the time ?5.
macro_rules! look_up {
    ($($reaches:expr),+) => {
        concat!(
            "select k.account_id, k.rights, k.folder_id, k.protocols = 'all' or k.protocols = ?4 as speaks, ",
            $($reaches,)+
            " as reaches, m.role, s.n as space_key, s.quota_bytes - s.used_bytes - s.reserved_bytes as free_bytes, s.trash_days
               from tokens k
               left join members m on m.account_id = k.account_id and m.space_id = ?1
                                  and (k.space_id is null or k.space_id = ?1)
               left join spaces s on s.id = m.space_id
              where k.hash = ?3 and (k.expires_at is null or k.expires_at > ?5)"
        )
    };
}

/// Looks up the token for a request about the whole of a space: what is limited to a folder reaches none of it.
pub fn look_up(token: &Token, space: &SpaceId, now: Timestamp) -> Statement {
    bind(
        Statement::new(look_up!("?2 is null and k.folder_id is null")).bind(space).bind(None::<i64>),
        token,
        now,
    )
}

/// Whether the folder of the token `k` leads up to a root.
macro_rules! folder_lives {
    () => {
        "exists (
            with recursive up (parent_id) as (
              select parent_id from nodes where id = k.folder_id and trashed_at is null
              union all
              select n.parent_id from up u cross join nodes n where n.id = u.parent_id and n.trashed_at is null
            )
            select 1 from up where parent_id = '')"
    };
}

/// Looks up the token for a request about nodes of a space, wherever they are: what is limited to a folder reaches what
/// is in it, while it lives. The use case keeps to that: [`Caller::folder`].
pub fn look_up_nodes(token: &Token, space: &SpaceId, now: Timestamp) -> Statement {
    let sql = look_up!("?2 is null and (k.folder_id is null or ", folder_lives!(), ")");
    bind(Statement::new(sql).bind(space).bind(None::<i64>), token, now)
}

/// `scope(space, root, top)`: the space ?1's key and root, and what the token with the hash ?2 reaches of it: `top` and
/// all below.
macro_rules! scope {
    () => {
        "scope (space, root, top) as (
            select s.n, s.root_id, coalesce(k.folder_id, s.root_id)
              from spaces s cross join tokens k where s.id = ?1 and k.hash = ?2
        )"
    };
}
pub(crate) use scope;

/// A condition in SQL: the node with the id `$node` is in [`scope`], and living folders lead from it up to the root.
macro_rules! in_scope {
    ($node:literal) => {
        concat!(
            "((with recursive up (id, parent_id) as (
                 select id, parent_id from nodes where id = ",
            $node,
            " and trashed_at is null
                 union all
                 select n.id, n.parent_id from up u cross join nodes n
                  where n.id = u.parent_id and n.trashed_at is null
               )
               select max(u.id = scope.top) + max(u.id = scope.root) from up u) is 2)"
        )
    };
}
pub(crate) use in_scope;

/// Looks up the token for a request about the path at the address: what is limited to a folder reaches it and what is
/// below.
pub fn look_up_at(address: &Address, now: Timestamp) -> Statement {
    let sql = concat!(
        walk!(),
        look_up!("k.folder_id is null or exists (select 1 from walk w where w.id = k.folder_id)")
    );
    bind(Statement::new(sql).bind(&address.space).bind(address.way()), &address.token, now)
}

fn bind(statement: Statement, token: &Token, now: Timestamp) -> Statement {
    statement.bind(token.hash().to_string()).bind(token.protocol().name()).bind(now)
}

/// The token ?1 may still write to the space ?2 at the time ?3, and its scope reaches so far.
macro_rules! still_writes {
    ($($reaches:expr),+) => {
        concat!(
            "exists (
    select 1 from tokens k
      join members m on m.account_id = k.account_id and m.space_id = ?2
     where k.hash = ?1 and (k.expires_at is null or k.expires_at > ?3) and k.rights = 'write'
       and (k.space_id is null or k.space_id = ?2) and m.role in ('writer', 'owner') and ",
            $($reaches,)+
            ")"
        )
    };
}

/// A condition in SQL: the token ?1 may still write to the space ?2 at the time ?3, in the folder ?4, which it is limited
/// to and which lives, or anywhere where that is null.
pub(crate) const STILL_WRITES_NODES: &str =
    still_writes!("k.folder_id is ?4 and (k.folder_id is null or ", folder_lives!(), ")");

/// A condition in SQL: the token ?1 may still write to the space ?2 at the time ?3 what is in the folder ?4.
pub const STILL_WRITES_IN: &str = still_writes!(
    "(k.folder_id is null or exists (
       with recursive up (id, parent_id) as (
         select id, parent_id from nodes where id = ?4
         union all
         select n.id, n.parent_id from up u cross join nodes n where n.id = u.parent_id
       )
       select 1 from up u where u.id = k.folder_id))"
);

/// A condition in SQL: the token ?1 may still write something to the space ?2 at the time ?3. Enough to store bytes
/// that nothing refers to yet.
pub(crate) const STILL_UPLOADS: &str = still_writes!("true");

/// A condition in SQL: the token ?1 may still write to all of the space ?2 at the time ?3, by REST.
pub(crate) const STILL_WRITES_ALL: &str = still_writes!("k.folder_id is null and k.protocols <> 'webdav'");

/// A condition in SQL: the token ?1 may still end what others hold in the space ?2 at the time ?3, and change the space
/// itself.
pub(crate) const STILL_OWNS: &str = still_writes!("k.folder_id is null and m.role = 'owner'");

/// A condition in SQL: the token ?1 may still make tokens at the time ?2.
pub(crate) const STILL_GRANTS: &str = "exists (
    select 1 from tokens k
     where k.hash = ?1 and (k.expires_at is null or k.expires_at > ?2) and k.rights = 'write')";

/// A condition in SQL: the token `c` is the token `asker`, or may do nothing that `asker` may not.
macro_rules! within {
    () => {
        "(c.id = asker.id or (
            (asker.space_id is null or c.space_id = asker.space_id)
            and (asker.folder_id is null or exists (
              with recursive up (id, parent_id) as (
                select id, parent_id from nodes where id = c.folder_id
                union all
                select n.id, n.parent_id from up u cross join nodes n where n.id = u.parent_id
              )
              select 1 from up u where u.id = asker.folder_id))
            and (asker.rights = 'write' or c.rights = 'read')
            and (asker.protocols = 'all' or c.protocols = asker.protocols)))"
    };
}
pub(crate) use within;

/// Decides by what [`look_up`] or [`look_up_at`] found.
pub fn authorise(found: Option<&Row>, right: Right) -> Result<Caller> {
    let row = found.ok_or(Error::Unauthenticated)?;
    if row.integer("speaks")? != 1 {
        return Err(Error::TokenForbids { needs: "access by this protocol" });
    }
    let role = row.text_or_null("role")?.ok_or(Error::NotFound)?;
    if row.integer("reaches")? != 1 {
        return Err(Error::NotFound);
    }
    let allowed = match (right, role) {
        (Right::Read, "reader" | "writer" | "owner") | (Right::Write, "writer" | "owner") => true,
        (Right::Own, "owner") => true,
        (Right::Own, "writer") => return Err(Error::Forbidden { role: "writer" }),
        (Right::Write | Right::Own, "reader") => return Err(Error::Forbidden { role: "reader" }),
        _ => false,
    };
    if !allowed {
        return Err(Error::NotFound);
    }
    if right != Right::Read && row.text("rights")? != "write" {
        return Err(Error::TokenForbids { needs: "the right to write" });
    }
    Ok(Caller {
        account: account(row)?,
        space_key: row.integer("space_key")?,
        free_bytes: row.integer_or_null("free_bytes")?,
        folder: row.text_or_null("folder_id")?.map(str::to_owned),
        trash_days: row.integer_or_null("trash_days")?,
    })
}

/// Whether a request whose first answer this is came with a token that is limited to a folder.
pub(crate) fn is_limited_to_a_folder(results: &[Rows]) -> bool {
    let row = results.first().and_then(|rows| rows.first());
    row.is_some_and(|row| matches!(row.text_or_null("folder_id"), Ok(Some(_))))
}

/// Looks up the token alone, for what belongs to an account and not to a space; [`limits`] reads it.
pub fn look_up_account(token: &Token, now: Timestamp) -> Statement {
    Statement::new(
        "select k.account_id, k.protocols = 'all' or k.protocols = ?2 as speaks, k.space_id, k.rights, k.expires_at,
                k.folder_id, k.protocols
           from tokens k where k.hash = ?1 and (k.expires_at is null or k.expires_at > ?3)",
    )
    .bind(token.hash().to_string())
    .bind(token.protocol().name())
    .bind(now)
}

/// Looks up the token and the account's role, for what belongs to the whole drive.
pub fn look_up_admin(token: &Token, now: Timestamp) -> Statement {
    Statement::new(
        "select k.account_id, k.protocols = 'all' or k.protocols = ?2 as speaks, k.space_id, k.rights, k.expires_at,
                k.folder_id, k.protocols, a.role
           from tokens k cross join accounts a on a.id = k.account_id
          where k.hash = ?1 and (k.expires_at is null or k.expires_at > ?3)",
    )
    .bind(token.hash().to_string())
    .bind(token.protocol().name())
    .bind(now)
}

/// Decides by what [`look_up_admin`] found: administrators only, with a token that reaches all of the account's; to
/// change something, one that writes.
pub fn authorise_admin(found: Option<&Row>, right: Right) -> Result<AccountId> {
    let limits = limits(found)?;
    let role = found.map(|row| row.text("role")).transpose()?;
    if role != Some("admin") {
        return Err(Error::AdministratorsOnly);
    }
    if limits.space.is_some() {
        return Err(Error::TokenForbids { needs: "the reach of the whole account" });
    }
    if right != Right::Read && !limits.writes {
        return Err(Error::TokenForbids { needs: "the right to write" });
    }
    Ok(limits.account)
}

/// A condition in SQL: the token ?1 is an administrator's, and may still change what belongs to the whole drive at the
/// time ?2.
pub const STILL_ADMINISTERS: &str = "exists (
    select 1 from tokens k cross join accounts a on a.id = k.account_id
     where k.hash = ?1 and (k.expires_at is null or k.expires_at > ?2) and k.rights = 'write' and k.space_id is null
       and a.role = 'admin')";

/// What a token is limited to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) account: AccountId,
    pub(crate) space: Option<String>,
    pub(crate) folder: Option<String>,
    pub(crate) writes: bool,
    /// As the column has it.
    pub(crate) protocols: String,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Reads what [`look_up_account`] found, for requests about tokens, which every token may make within its limits.
pub(crate) fn limits(found: Option<&Row>) -> Result<Limits> {
    let row = found.ok_or(Error::Unauthenticated)?;
    if row.integer("speaks")? != 1 {
        return Err(Error::TokenForbids { needs: "access by this protocol" });
    }
    Ok(Limits {
        account: account(row)?,
        space: row.text_or_null("space_id")?.map(str::to_owned),
        folder: row.text_or_null("folder_id")?.map(str::to_owned),
        writes: row.text("rights")? == "write",
        protocols: row.text("protocols")?.to_owned(),
        expires_at: row.integer_or_null("expires_at")?.map(Timestamp),
    })
}

fn account(row: &Row) -> Result<AccountId> {
    AccountId::parse(row.text("account_id")?)
        .ok_or_else(|| Error::Internal("an account's id is malformed".to_owned()))
}
