//! The locks of a space, for its owners, who may break them: a client that died can't give its lock back.

use super::rows::{Lock, columns};
use crate::auth::{self, Right};
use crate::error::{Error, Result, Unavailable};
use crate::ids::{LockId, SpaceId};
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::token::Token;

const LOCKS: &str = concat!(
    "select ",
    columns!(),
    " from locks lk where lk.space_id = ?1 and lk.expires_at > ?2 order by lk.expires_at, lk.id"
);

/// All locks of a space, those first that end first; there are never more than [`super::MAX_LOCKS`]. One round trip.
pub async fn survey<P: Platform>(platform: &P, token: &Token, space: &SpaceId) -> Result<Vec<Lock>> {
    let now = platform.host().now();
    let locks = Statement::new(LOCKS).bind(space).bind(now).bind(token.hash().to_string());
    let results = platform.db().read(vec![auth::look_up(token, space, now), locks]).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Own)?;
    Lock::read_all(rows(1))
}

/// Removes the lock ?4 of the space ?2 for the token ?1 at the time ?3.
const BREAK: &str = "delete from locks where id = ?4 and space_id = ?2 and expires_at > ?3 and ";

/// Removes anybody's lock. One round trip.
pub async fn break_lock<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    id: &LockId,
) -> Result<()> {
    let now = platform.host().now();
    let batch = vec![
        auth::look_up(token, space, now),
        Statement::new(format!("{BREAK}{} returning id", auth::STILL_OWNS))
            .bind(token.hash().to_string())
            .bind(space)
            .bind(now)
            .bind(id),
    ];
    let results = match platform.db().write(batch).await {
        Ok(results) => results,
        Err(DbError::Unavailable(cause)) => {
            let look = Statement::new("select 1 from locks where id = ?1").bind(id);
            let gone = platform.db().read(vec![look]).await?.iter().all(Vec::is_empty);
            return if gone { Ok(()) } else { Err(Error::Unavailable(Unavailable::Database { cause })) };
        }
        Err(error) => return Err(error.into()),
    };
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Own)?;
    if rows(1).is_empty() { Err(Error::NotFound) } else { Ok(()) }
}
