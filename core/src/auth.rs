//! Who may do what: the only place that decides it. Deny by default.
//!
//! Authentication and the role in a space are one statement that joins the request's first batch, so a revoked
//! token or a changed role takes effect with the next request. Writes check again inside their commit
//! ([`STILL_WRITES`]). Whoever isn't a member gets the same answer as for a space that doesn't exist.

use crate::error::{Error, Result};
use crate::ids::{AccountId, SpaceId};
use crate::ports::{Row, Statement, Timestamp};
use crate::token::Token;

/// What a request wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// See content and metadata.
    Read,
    /// Change them.
    Write,
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
}

/// Looks up the token, and the role that its account has in the space.
pub fn look_up(token: &Token, space: &SpaceId, now: Timestamp) -> Statement {
    Statement::new(
        "select t.account_id, m.role, s.n as space_key, s.quota_bytes - s.used_bytes as free_bytes
           from tokens t
           left join members m on m.account_id = t.account_id and m.space_id = ?2
           left join spaces s on s.id = m.space_id
          where t.hash = ?1 and (t.expires_at is null or t.expires_at > ?3)",
    )
    .bind(token.hash().to_string())
    .bind(space)
    .bind(now)
}

/// A condition in SQL: the token ?1 may still write to the space ?2 at the time ?3.
pub const STILL_WRITES: &str = "exists (
    select 1 from tokens t
      join members m on m.account_id = t.account_id and m.space_id = ?2
     where t.hash = ?1 and (t.expires_at is null or t.expires_at > ?3) and m.role in ('writer', 'owner'))";

/// Decides by what [`look_up`] found.
pub fn authorise(found: Option<&Row>, right: Right) -> Result<Caller> {
    let row = found.ok_or(Error::Unauthenticated)?;
    let role = row.text_or_null("role")?.ok_or(Error::NotFound)?;
    let allowed = match (right, role) {
        (Right::Read, "reader" | "writer" | "owner") | (Right::Write, "writer" | "owner") => true,
        (Right::Write, "reader") => return Err(Error::Forbidden { role: "reader" }),
        _ => false,
    };
    if !allowed {
        return Err(Error::NotFound);
    }
    let account = AccountId::parse(row.text("account_id")?)
        .ok_or_else(|| Error::Internal("an account's id is malformed".to_owned()))?;
    Ok(Caller {
        account,
        space_key: row.integer("space_key")?,
        free_bytes: row.integer_or_null("free_bytes")?,
    })
}

/// Looks up the token alone, for what belongs to an account and not to a space.
pub fn look_up_account(token: &Token, now: Timestamp) -> Statement {
    Statement::new(
        "select t.account_id from tokens t where t.hash = ?1 and (t.expires_at is null or t.expires_at > ?2)",
    )
    .bind(token.hash().to_string())
    .bind(now)
}

/// Decides by what [`look_up_account`] found.
pub fn authenticate(found: Option<&Row>) -> Result<AccountId> {
    let row = found.ok_or(Error::Unauthenticated)?;
    AccountId::parse(row.text("account_id")?)
        .ok_or_else(|| Error::Internal("an account's id is malformed".to_owned()))
}
