//! What happens every minute: lost wake-ups are sent again, leases that ran out are noticed, periodic jobs are made, and
//! old rows go.

use super::{Work, look, wake};
use crate::error::Result;
use crate::ids::JobId;
use crate::ports::{Db, Host, Lane, Platform, Row, Statement, Timestamp};

/// A job that is made again and again; [`Work::unique_key`] is its name.
#[derive(Debug, Clone)]
pub struct Periodic {
    /// The work.
    pub work: Work,
    /// How often.
    pub every_secs: i64,
    /// When, counted from a multiple of `every_secs` since 1970: 3 o'clock (UTC) of a day is 10,800.
    pub at_secs: i64,
}

/// The most jobs that one tick wakes workers for: so many messages take a few seconds to send.
const MAX_WOKEN: u64 = 100;
/// The most rows that one tick removes.
const MAX_FORGOTTEN: u64 = 1000;

/// Wakes workers for what ought to be under way and isn't: jobs that were due a lease's time ago and nobody came, and
/// jobs whose lease ran out. What waits counts as woken now, so that a slow queue isn't filled with copies.
const LOST: &str = "update jobs set due_at = iif(state = 'processing', due_at, ?1)
  where id in (
    select j.id from jobs j
     where j.finished_at is null and j.due_at <= ?1 and (j.state = 'processing' or j.due_at <= ?2)
     order by j.due_at limit ?3)
  returning id, lane";

const FORGET: &str = "delete from jobs where id in (
    select j.id from jobs j where j.forget_at <= ?1 order by j.forget_at limit ?2)";

/// Does all that is due. `silent_secs`: how long ago a job must have become due to count as forgotten; None for as long
/// as a lease. One round trip, and a message for each job that is woken. Returns how many were.
pub async fn tick<P: Platform>(
    platform: &P,
    periodic: &[Periodic],
    silent_secs: Option<i64>,
) -> Result<usize> {
    let now = platform.host().now();
    let silent_secs = silent_secs.unwrap_or(platform.settings().lease_secs);
    let mut batch = vec![
        Statement::new(LOST).bind(now).bind(now.plus_secs(-silent_secs)).bind(MAX_WOKEN),
        Statement::new(FORGET).bind(now).bind(MAX_FORGOTTEN),
    ];
    for job in periodic {
        batch.extend(job.statements(platform.host(), now)?);
    }
    let results = platform.db().write(batch).await?;
    let mut woken = 0;
    for row in results.iter().flatten() {
        let (lane, id) = named(row)?;
        if let Some(lane) = lane {
            wake(platform, lane, &id, 0).await;
            woken += 1;
        }
    }
    Ok(woken)
}

fn named(row: &Row) -> Result<(Option<Lane>, JobId)> {
    let lane = row.text("lane")?;
    // A lane of a later release is that one's to wake.
    Ok((Lane::ALL.into_iter().find(|known| known.name() == lane), look::id(row)?))
}

impl Periodic {
    /// Makes the job if its time has come, and notes when it comes next. A job that nobody has seen before is made at its
    /// next time and not at once.
    fn statements(&self, host: &impl Host, now: Timestamp) -> Result<[Statement; 2]> {
        let key = self.work.unique_key().unwrap_or_default();
        let make = Statement::new(
            "insert into jobs (id, lane, input, created_at, updated_at, due_at, unique_key)
             select ?1, ?2, ?3, ?4, ?4, ?4, s.key from schedules s where s.key = ?5 and s.due_at <= ?4
                 on conflict do nothing
             returning id, lane",
        )
        .bind(&JobId::new(host))
        .bind(self.work.lane().name())
        .bind(crate::manifest::to_json(&self.work)?)
        .bind(now)
        .bind(key);
        let next = Statement::new(
            "insert into schedules (key, due_at) values (?1, ?2)
                 on conflict (key) do update set due_at = excluded.due_at where due_at <= ?3",
        )
        .bind(key)
        .bind(self.next(now))
        .bind(now);
        Ok([make, next])
    }

    /// The first time after `now`.
    fn next(&self, now: Timestamp) -> Timestamp {
        let every = self.every_secs.max(1).saturating_mul(1000);
        let at = self.at_secs.saturating_mul(1000);
        let rounds = now.0.saturating_sub(at).div_euclid(every).saturating_add(1);
        Timestamp(rounds.saturating_mul(every).saturating_add(at))
    }
}
