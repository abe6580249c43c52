//! A batch of operations, all or nothing.

use super::commit::{Commit, Refused};
use super::decide::{Copied, Plan, decide};
use super::large;
use super::numbers::Numbers;
use super::read::{Read, check, read};
use super::{MAX_COPIED_NODES, Operation, Outcome};
use crate::error::{Conflict, Error, Result};
use crate::ids::SpaceId;
use crate::jobs::Job;
use crate::locks;
use crate::ports::{Db, Host, Platform};
use crate::token::Token;

/// So often is decided again, when others keep changing what was read.
const ATTEMPTS: usize = 100;

/// What became of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Became {
    /// It is done; what each operation came to.
    Done(Vec<Outcome>),
    /// It is one copy, of more nodes than one commit makes: a job makes it. Nothing is to be seen before it is complete.
    Later(Box<Job>),
}

/// Does all operations, or none: two round trips, and one more where a free name has to be found, or where a job is needed.
/// An error says which operation it is about, where it is about one.
pub async fn batch<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    operations: &[Operation],
) -> Result<Became> {
    batch_telling(platform, token, space, operations, &|_| Ok(())).await
}

/// The same; tells what the operations will have come to before each attempt to commit them.
pub async fn batch_telling<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    operations: &[Operation],
    tell: &dyn Fn(&Became) -> Result<()>,
) -> Result<Became> {
    attempts(platform, token, space, operations, tell, false).await
}

/// Has a job make a copy, however small it is.
pub async fn copy_by_job<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    copy: Operation,
) -> Result<Became> {
    attempts(platform, token, space, &[copy], &|_| Ok(()), true).await
}

async fn attempts<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    operations: &[Operation],
    tell: &dyn Fn(&Became) -> Result<()>,
    mut is_large: bool,
) -> Result<Became> {
    check(operations)?;
    for _ in 0..ATTEMPTS {
        let (read, plan) = decided(platform, token, space, operations, None).await?;
        let done = Became::Done(plan.outcomes.clone());
        if plan.places.is_empty() && plan.overs.is_empty() {
            return Ok(done);
        }
        let now = platform.host().now();
        let commit =
            Commit { token, space, read: &read, now, plan: &plan, first: Vec::new(), last: Vec::new() };
        let mut became = Err(Refused::For(Error::TooManyNodes { verb: "copy", limit: MAX_COPIED_NODES }));
        if !is_large {
            tell(&done)?;
            became = commit.run(platform).await.map(|()| done);
        }
        if let ([copy], Err(Refused::For(Error::TooManyNodes { .. }))) = (operations, &became) {
            is_large = true;
            let tell = |job: &Job| tell(&Became::Later(Box::new(job.clone())));
            let begun = large::begin(platform, &commit, copy, tell).await;
            became = begun.map(|job| Became::Later(Box::new(job)));
        }
        match became {
            Ok(became) => return Ok(became),
            Err(Refused::TreeChanged) => {}
            // Unless they have just gone, the answer names them.
            Err(Refused::Locked) => locks::refusal(platform, token, space, &plan.touched()).await?,
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// Reads what the operations need to know, and decides on them. Where `built` is a copy that a job has built, the one operation
/// gives it its place.
pub(super) async fn decided<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    operations: &[Operation],
    built: Option<&Copied>,
) -> Result<(Read, Plan)> {
    let read = Read { built: built.cloned(), ..read(platform, token, space, operations).await? };
    let mut numbers = Numbers::default();
    let mut plan = decide(platform.host(), space, operations, &read, &mut numbers)?;
    while numbers.are_wanted() {
        let (names, look_up) = numbers.look_up()?;
        let results = platform.db().read(vec![look_up]).await?;
        numbers.read(&names, results.first().map(Vec::as_slice).unwrap_or_default())?;
        plan = decide(platform.host(), space, operations, &read, &mut numbers)?;
    }
    Ok((read, plan))
}
