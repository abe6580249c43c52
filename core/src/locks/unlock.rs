//! Giving a lock back.

use super::covering::{covering, still_writes};
use crate::error::{Conflict, Error, Result};
use crate::ids::LockId;
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::tree::Address;

/// Removes the lock, which must cover what stands at the address and belong to the caller's account. Two round trips.
///
/// Where no lock is left there, it is done already: a client whose lock has expired must be able to end its work.
///
/// # Errors
/// [`Conflict::NotLocked`] where other locks are there and this one isn't.
pub async fn unlock<P: Platform>(platform: &P, address: &Address, id: Option<&LockId>) -> Result<()> {
    let now = platform.host().now();
    let (caller, covering) = covering(platform, address, now).await?;
    if covering.all().next().is_none() {
        return Ok(());
    }
    let lock =
        covering.all().find(|lock| Some(&lock.id) == id).ok_or(Error::Conflict(Conflict::NotLocked))?;
    if lock.account != caller.account {
        return Err(Error::TokenForbids { needs: "the lock, which another account has taken" });
    }
    let batch = vec![
        still_writes(address, now, lock),
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
