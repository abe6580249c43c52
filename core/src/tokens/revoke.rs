//! Revoking a token: the next request that carries it is turned away.

use crate::auth::{self, within};
use crate::error::{Error, Result, Unavailable};
use crate::ids::TokenId;
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::token::Token;

/// The token ?2, if the token ?1 sees it.
const SEEN: &str = concat!(
    "select c.id = asker.id as own from tokens asker cross join tokens c on c.id = ?2 and c.account_id = asker.account_id
      where asker.hash = ?1 and ",
    within!()
);

/// Removes the token ?2, if the token ?1, which is used by the protocol ?3 at the time ?4, may.
const REMOVE: &str = concat!(
    "delete from tokens where id in (
       select c.id from tokens asker cross join tokens c on c.id = ?2 and c.account_id = asker.account_id
        where asker.hash = ?1 and (asker.protocols = 'all' or asker.protocols = ?3)
          and (asker.expires_at is null or asker.expires_at > ?4) and (asker.rights = 'write' or c.id = asker.id) and ",
    within!(),
    ") returning id"
);

/// Revokes a token that may do no more than the one that asks, or that one itself. One round trip.
pub async fn revoke<P: Platform>(platform: &P, asking: &Token, id: &TokenId) -> Result<()> {
    let now = platform.host().now();
    let hash = asking.hash().to_string();
    let batch = vec![
        auth::look_up_account(asking, now),
        Statement::new(SEEN).bind(hash.as_str()).bind(id),
        Statement::new(REMOVE).bind(hash).bind(id).bind(asking.protocol().name()).bind(now),
    ];
    let mut results = match platform.db().write(batch).await {
        Ok(results) => results.into_iter(),
        Err(DbError::Unavailable(cause)) => return look(platform, id, cause).await,
        Err(error) => return Err(error.into()),
    };
    let mut rows = || results.next().unwrap_or_default();
    auth::limits(rows().first())?;
    if rows().is_empty() {
        return Err(Error::NotFound);
    }
    if rows().is_empty() {
        return Err(Error::TokenForbids { needs: "the right to write, which revoking others needs" });
    }
    Ok(())
}

/// The answer was lost: what is gone is revoked.
async fn look<P: Platform>(platform: &P, id: &TokenId, cause: String) -> Result<()> {
    let look = Statement::new("select 1 from tokens where id = ?1").bind(id);
    let found = platform.db().read(vec![look]).await?;
    if found.iter().all(Vec::is_empty) {
        return Ok(());
    }
    Err(Error::Unavailable(Unavailable::Database { cause }))
}
