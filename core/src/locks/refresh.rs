//! Refreshing a lock: it lives on from now.

use std::time::Duration;

use super::covering::{covering, still_writes};
use super::lock::seconds;
use super::rows::Lock;
use crate::error::{Error, Result};
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::tree::Address;

/// Refreshes the lock that covers what stands at the address and whose token is submitted. Two round trips.
///
/// # Errors
/// [`Error::PreconditionFailed`] where there is none: it has expired, say.
pub async fn refresh<P: Platform>(
    platform: &P,
    address: &Address,
    timeout: Option<Duration>,
) -> Result<Lock> {
    let now = platform.host().now();
    let (caller, covering) = covering(platform, address, now).await?;
    let submitted = &address.token.submitted().tokens;
    let own = |lock: &&Lock| lock.account == caller.account && submitted.contains(&lock.id);
    let mut lock = covering.all().find(own).cloned().ok_or(Error::PreconditionFailed)?;
    lock.expires_at = now.plus_secs(seconds(timeout));

    let batch = vec![
        still_writes(address, now, &lock),
        Statement::new("update locks set expires_at = ?2 where id = ?1 and expires_at > ?3 returning id")
            .bind(&lock.id)
            .bind(lock.expires_at)
            .bind(now),
    ];
    // Safe to repeat, and so a lost answer is the client's to ask for again.
    match platform.db().write(batch).await {
        Ok(results) if results.get(1).is_some_and(|rows| !rows.is_empty()) => Ok(lock),
        Ok(_) => Err(Error::PreconditionFailed),
        Err(DbError::Violated(why)) if why == "access_gone" => Err(Error::Unauthenticated),
        Err(error) => Err(error.into()),
    }
}
