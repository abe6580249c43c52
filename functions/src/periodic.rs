//! What is done again and again: the one table of it.

use ledge_core::jobs::{Periodic, Work};

const HOUR_SECS: i64 = 60 * 60;
const DAY_SECS: i64 = 24 * HOUR_SECS;
const WEEK_SECS: i64 = 7 * DAY_SECS;

/// Every periodic job. Its work needs a key (`Work::unique_key`), so that a run that takes long isn't overtaken by the
/// next one.
pub(crate) fn jobs() -> Vec<Periodic> {
    vec![
        // When most of a drive's users sleep, whoever they are: 2 o'clock (UTC).
        Periodic { work: Work::Backup, every_secs: DAY_SECS, at_secs: 2 * HOUR_SECS },
        // What is abandoned holds its part of the quota not much longer than it may.
        Periodic { work: Work::ExpireUploads, every_secs: 600, at_secs: 0 },
        Periodic { work: Work::Reclaim, every_secs: HOUR_SECS, at_secs: 25 * 60 },
        // 1970 began on a Thursday: this is Sunday, at 4 o'clock (UTC).
        Periodic {
            work: Work::ReclaimFullPass,
            every_secs: WEEK_SECS,
            at_secs: 3 * DAY_SECS + 4 * HOUR_SECS,
        },
        // What has expired isn't shown, but counts against the quota until it is gone.
        Periodic { work: Work::ExpireTrash, every_secs: HOUR_SECS, at_secs: 10 * 60 },
        // At night, since it looks at every file.
        Periodic { work: Work::ExpireVersions, every_secs: DAY_SECS, at_secs: 3 * HOUR_SECS },
    ]
}
