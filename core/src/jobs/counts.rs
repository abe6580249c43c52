//! What an administrator watches.

use super::State;
use crate::auth::{self, Right};
use crate::error::Result;
use crate::manifest;
use crate::ports::{Db, Host, Lane, Platform, Statement, Timestamp};
use crate::token::Token;

/// How many jobs a lane has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneCounts {
    /// The lane.
    pub lane: Lane,
    /// Waiting for a worker.
    pub pending: u64,
    /// Being worked on.
    pub processing: u64,
    /// Waiting for another attempt.
    pub retry: u64,
    /// Given up.
    pub dead: u64,
    /// When the oldest that is neither over nor given up was asked for.
    pub oldest_at: Option<Timestamp>,
}

const COUNTED: [State; 4] = [State::Pending, State::Processing, State::Retry, State::Dead];

const COUNTS: &str = "select l.value as lane, x.value as state,
        (select count(*) from jobs j
          where j.lane = l.value and j.state = x.value and j.state not in ('done', 'cancelled')) as jobs,
        (select min(j.created_at) from jobs j
          where j.lane = l.value and j.state = x.value and j.state not in ('done', 'cancelled')) as oldest_at
   from json_each(?1) l cross join json_each(?2) x";

/// Counts jobs by lane, and tells the time: an age is a difference of two answers of one clock. One round trip.
pub async fn counts<P: Platform>(platform: &P, token: &Token) -> Result<(Vec<LaneCounts>, Timestamp)> {
    let now = platform.host().now();
    let count = Statement::new(COUNTS)
        .bind(manifest::to_json(&Lane::ALL.map(Lane::name))?)
        .bind(manifest::to_json(&COUNTED.map(State::name))?);
    let mut results = platform.db().read(vec![auth::look_up_admin(token, now), count]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise_admin(rows().first(), Right::Read)?;
    let rows = rows();
    let mut lanes = Vec::new();
    for lane in Lane::ALL {
        let mut counts = LaneCounts { lane, pending: 0, processing: 0, retry: 0, dead: 0, oldest_at: None };
        for row in &rows {
            if row.text("lane")? != lane.name() {
                continue;
            }
            let jobs = row.unsigned("jobs")?;
            match State::parse(row.text("state")?) {
                Some(State::Pending) => counts.pending = jobs,
                Some(State::Processing) => counts.processing = jobs,
                Some(State::Retry) => counts.retry = jobs,
                _ => {
                    counts.dead = jobs;
                    continue;
                }
            }
            let oldest = row.integer_or_null("oldest_at")?.map(Timestamp);
            counts.oldest_at = [counts.oldest_at, oldest].into_iter().flatten().min();
        }
        lanes.push(counts);
    }
    Ok((lanes, now))
}
