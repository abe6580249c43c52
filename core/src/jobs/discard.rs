//! Asks for the removal of what a failed upload has stored.

use super::Work;
use crate::error::Error;
use crate::ids::{AccountId, JobId};
use crate::ingest::Ingest;
use crate::ports::{Db, Host, Platform, Queue, Statement};

/// After an error of the bucket or the database a request may still be on its way there: wait for it to arrive.
const SETTLING_SECS: u32 = 300;

/// Writes the job and wakes a worker. A failure is no error: the ingest expires, and the sweep finds it.
pub(crate) async fn discard_ingest<P: Platform>(
    platform: &P,
    ingest: &Ingest,
    account: &AccountId,
    because: &Error,
) {
    let id = JobId::new(platform.host());
    let work = Work::DiscardIngest { ingest: ingest.id, key: ingest.key.clone() };
    let lane = work.lane();
    let Ok(input) = serde_json::to_string(&work) else { return };
    let row = Statement::new(
        "insert into jobs (id, lane, input, account_id, created_at, updated_at) values (?1, ?2, ?3, ?4, ?5, ?5)",
    )
    .bind(&id)
    .bind(lane.name())
    .bind(input)
    .bind(account)
    .bind(platform.host().now());
    let delay_secs = if matches!(because, Error::Unavailable(_)) { SETTLING_SECS } else { 0 };
    if platform.db().write(vec![row]).await.is_ok() {
        let _lost_wake_ups_are_sent_again = platform.queue().send(lane, &id, delay_secs).await;
    }
}
