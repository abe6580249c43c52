//! A batch of operations, all or nothing.

use super::commit::{Commit, Refused};
use super::decide::decide;
use super::numbers::Numbers;
use super::read::{check, read};
use super::{Operation, Outcome};
use crate::error::{Conflict, Error, Result};
use crate::ids::SpaceId;
use crate::locks;
use crate::ports::{Db, Host, Platform};
use crate::token::Token;

/// So often is decided again, when others keep changing what was read.
const ATTEMPTS: usize = 100;

/// Does all operations, or none: two round trips, and one more where a free name has to be found. An error says which
/// operation it is about, where it is about one.
pub async fn batch<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    operations: &[Operation],
) -> Result<Vec<Outcome>> {
    batch_telling(platform, token, space, operations, &|_| Ok(())).await
}

/// The same; tells what the operations will have come to before each attempt to commit them.
pub async fn batch_telling<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    operations: &[Operation],
    tell: &dyn Fn(&[Outcome]) -> Result<()>,
) -> Result<Vec<Outcome>> {
    check(operations)?;
    for _ in 0..ATTEMPTS {
        let read = read(platform, token, space, operations).await?;
        let mut numbers = Numbers::default();
        let mut plan = decide(platform.host(), space, operations, &read, &mut numbers)?;
        while numbers.are_wanted() {
            let (names, look_up) = numbers.look_up()?;
            let results = platform.db().read(vec![look_up]).await?;
            numbers.read(&names, results.first().map(Vec::as_slice).unwrap_or_default())?;
            plan = decide(platform.host(), space, operations, &read, &mut numbers)?;
        }
        if plan.places.is_empty() && plan.overs.is_empty() {
            return Ok(plan.outcomes);
        }
        tell(&plan.outcomes)?;
        let now = platform.host().now();
        let commit = Commit { token, space, read: &read, now, plan: &plan };
        match commit.run(platform).await {
            Ok(()) => return Ok(plan.outcomes),
            Err(Refused::TreeChanged) => {}
            // Unless they have just gone, the answer names them.
            Err(Refused::Locked) => locks::refusal(platform, token, space, &plan.touched()).await?,
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}
