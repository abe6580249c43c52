//! What refreshing a lock and giving it back have in common.

use super::discover::{Covering, discover};
use super::guard::{conditions, hold};
use super::rows::Lock;
use crate::auth::{self, Caller, Right};
use crate::error::Result;
use crate::ports::{Db, Platform, Statement, Timestamp};
use crate::tree::{Address, Resolved, resolve};

/// Who asks, and the locks that cover what stands at the address, which must be there. One round trip.
pub(super) async fn covering<P: Platform>(
    platform: &P,
    address: &Address,
    now: Timestamp,
) -> Result<(Caller, Covering)> {
    let mut batch = vec![auth::look_up_at(address, now), resolve(address), discover(address, now, false)];
    batch.extend(conditions(address, now));
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let caller = auth::authorise(rows(0).first(), Right::Write)?;
    Resolved::existing(rows(1), address)?;
    hold(&address.token, rows(3))?;
    Ok((caller, Covering::read(rows(2))?))
}

/// Refuses a batch by `access_gone` where the caller may not write any more to what the lock is on.
pub(super) fn still_writes(address: &Address, now: Timestamp, lock: &Lock) -> Statement {
    let access = format!("insert into guard (why) select 'access_gone' where not {}", auth::STILL_WRITES_IN);
    Statement::new(access)
        .bind(address.token.hash().to_string())
        .bind(&address.space)
        .bind(now)
        .bind(&lock.node)
}
