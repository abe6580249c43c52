//! Refreshing a lock: it lives on from now.

use std::time::Duration;

use super::discover::{Covering, discover};
use super::lock::seconds;
use super::rows::Lock;
use crate::auth::{self, Right};
use crate::error::{Error, Result};
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::tree::{Address, Resolved, resolve};

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
    let submitted = address.token.submitted();
    let mut batch = vec![auth::look_up_at(address, now), resolve(address), discover(address, now, false)];
    batch.extend(submitted.look(&address.space, now));
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
    let own = |lock: &&Lock| lock.account == caller.account && submitted.tokens.contains(&lock.id);
    let mut lock = covering.all().find(own).cloned().ok_or(Error::PreconditionFailed)?;
    lock.expires_at = now.plus_secs(seconds(timeout));

    let access = format!("insert into guard (why) select 'access_gone' where not {}", auth::STILL_WRITES_IN);
    let batch = vec![
        Statement::new(access)
            .bind(address.token.hash().to_string())
            .bind(&address.space)
            .bind(now)
            .bind(&lock.node),
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
