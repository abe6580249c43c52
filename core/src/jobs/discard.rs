//! Asks for the removal of what a failed upload has stored.

use super::row::{By, row_due};
use super::{Work, wake};
use crate::error::Error;
use crate::ids::{AccountId, SpaceId};
use crate::ingest::Ingest;
use crate::ports::{Db, Host, Platform};

/// After an error of the bucket or the database a request may still be on its way there: wait for it to arrive.
const SETTLING_SECS: u32 = 300;

/// Writes the job and wakes a worker. A failure is no error: the ingest expires, and the sweep finds it.
pub(crate) async fn discard_ingest<P: Platform>(
    platform: &P,
    ingest: &Ingest,
    (account, space): (&AccountId, &SpaceId),
    because: &Error,
) {
    let work = Work::DiscardIngest { ingest: ingest.id, key: ingest.key.clone() };
    let delay_secs = if matches!(because, Error::Unavailable(_)) { SETTLING_SECS } else { 0 };
    let by = By::Account { account, space: Some(space), token: None };
    let now = platform.host().now();
    let Ok((id, row)) = row_due(platform.host(), &work, by, now, delay_secs) else { return };
    if platform.db().write(vec![row]).await.is_ok() {
        wake(platform, work.lane(), &id, delay_secs).await;
    }
}
