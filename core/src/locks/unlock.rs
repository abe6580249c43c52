//! Giving a lock back.

use super::discover::{Covering, discover};
use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::LockId;
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::tree::{Address, Resolved, resolve};

/// Removes the lock, which must cover what stands at the address and belong to the caller's account. Two round trips.
///
/// Where no lock is left there, it is done already: a client whose lock has expired must be able to end its work.
///
/// # Errors
/// [`Conflict::NotLocked`] where other locks are there and this one isn't.
pub async fn unlock<P: Platform>(platform: &P, address: &Address, id: Option<&LockId>) -> Result<()> {
    let now = platform.host().now();
    let mut batch = vec![auth::look_up_at(address, now), resolve(address), discover(address, now, false)];
    batch.extend(address.token.submitted().look(&address.space, now));
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let caller = auth::authorise(rows(0).first(), Right::Write)?;
    Resolved::existing(rows(1), address)?;
    if let Some(row) = rows(3).first()
        && row.integer("holds")? != 1
    {
        return Err(Error::PreconditionFailed);
    }
    let covering = Covering::read(rows(2))?;
    if covering.all().next().is_none() {
        return Ok(());
    }
    let lock =
        covering.all().find(|lock| Some(&lock.id) == id).ok_or(Error::Conflict(Conflict::NotLocked))?;
    if lock.account != caller.account {
        return Err(Error::TokenForbids { needs: "the lock, which another account has taken" });
    }
    let access = format!("insert into guard (why) select 'access_gone' where not {}", auth::STILL_WRITES_IN);
    let batch = vec![
        Statement::new(access)
            .bind(address.token.hash().to_string())
            .bind(&address.space)
            .bind(now)
            .bind(&lock.node),
        Statement::new("delete from locks where id = ?1").bind(&lock.id),
    ];
    let happened = async || -> Result<bool, DbError> {
        let look = Statement::new("select 1 from locks where id = ?1").bind(&lock.id);
        Ok(platform.db().read(vec![look]).await?.iter().all(Vec::is_empty))
    };
    match write_once(platform.db(), batch, happened).await {
        Err(DbError::Violated(why)) if why == "access_gone" => Err(Error::Unauthenticated),
        done => Ok(done?),
    }
}
