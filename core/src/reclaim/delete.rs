//! From doomed to gone: the one place where a segment's object is deleted.
//!
//! First one conditional write: what still has no page, and hasn't been found by a look-up, for the whole grace time, is
//! `deleting` from then on; no look-up finds it, no commit may name it, and it never goes back. Then the object goes, and
//! the rows last. Whoever is cut off in between left it `deleting`: such segments come first in the next step.

use std::collections::BTreeMap;

use super::{Limits, texts};
use crate::buckets::{self, OWN_KEYS, configured};
use crate::error::{Error, Result};
use crate::manifest;
use crate::ports::{Bucket, Db, Host, Platform, Row, Statement, Timestamp};

/// A batch may run so long after its time was taken: what was doomed then, was doomed so much later than it says. (Or as
/// much later as the grace is long, where tests have a short one.)
const LATE_SECS: i64 = 60;

/// What a step has done.
pub(super) struct Deleted {
    /// Segments that are gone.
    pub(super) segments: u64,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Whether there may be more.
    pub(super) more: bool,
}

/// The doomed segments whose time may have come. `state <> 'live'` is what the index is about.
macro_rules! due {
    () => {
        concat!(
            "(select id from segments where state <> 'live' and state = 'doomed' and state_at <= ?1 and ",
            configured!("bucket", "?3"),
            " order by state_at limit ?2)"
        )
    };
}

/// Something refers to it: that can't be, and in doubt it is kept.
const KEEP: &str = concat!(
    "update segments set state = 'live' where id in ",
    due!(),
    " and exists (select 1 from page_segments p where p.segment = segments.id)"
);

/// An upload has found one of its chunks: the grace begins anew. So the oldest never keep the others back.
const POSTPONE: &str = concat!(
    "update segments set state_at = (select max(c.seen_at) from chunks c where c.segment = segments.id)
      where id in ",
    due!(),
    " and exists (select 1 from chunks c where c.segment = segments.id and c.seen_at > ?1)"
);

const BEGIN: &str = concat!(
    "update segments set state = 'deleting'
      where id in ",
    due!(),
    " and state = 'doomed' and not exists (select 1 from page_segments p where p.segment = segments.id)
          and not exists (select 1 from chunks c where c.segment = segments.id and c.seen_at > ?1)"
);

const BEGUN: &str = concat!(
    "select id, key, size_bytes, source_etag is not null as is_imported, (select b.name from buckets b where b.n = segments.bucket) as bucket
       from segments where state <> 'live' and state = 'deleting' and ",
    configured!("bucket", "?2"),
    " order by state_at limit ?1"
);

/// Deletes segments whose grace is over, in buckets that are configured. Two round trips, and one bucket operation for up
/// to 1,000 objects of a bucket.
pub(super) async fn delete<P: Platform>(platform: &P, limits: &Limits) -> Result<Deleted> {
    let over = over(platform);
    let names = buckets::names(platform)?;
    let on_due = |sql: &'static str| Statement::new(sql).bind(over).bind(limits.deleted).bind(names.as_str());
    let begun = Statement::new(BEGUN).bind(limits.deleted).bind(names.as_str());
    let batch = vec![on_due(KEEP), on_due(POSTPONE), on_due(BEGIN), begun];
    let rows = platform.db().write(batch).await?.pop().unwrap_or_default();
    if rows.is_empty() {
        return Ok(Deleted { segments: 0, bytes: 0, more: false });
    }
    let mut by_bucket: BTreeMap<Option<&str>, Vec<&Row>> = BTreeMap::new();
    for row in &rows {
        by_bucket.entry(row.text_or_null("bucket")?).or_default().push(row);
    }
    let (mut ids, mut bytes, mut failure) = (Vec::with_capacity(rows.len()), 0, None);
    for (bucket, rows) in by_bucket {
        match remove(platform, bucket, &rows).await {
            Ok(()) => {
                for row in rows {
                    ids.push(row.unsigned("id")?);
                    bytes += row.unsigned("size_bytes")?;
                }
            }
            Err(Error::Unavailable(error)) => failure = Some(error),
            Err(error) => return Err(error),
        }
    }
    // One bucket that fails doesn't keep what lies in the others.
    match failure {
        Some(failure) if ids.is_empty() => return Err(Error::Unavailable(failure)),
        Some(failure) => platform.host().report(&format!("segments were not deleted yet: {failure}")),
        None => {}
    }
    let segments = ids.len() as u64;
    let ids = manifest::to_json(&ids)?;
    let forget = |sql: &'static str| Statement::new(sql).bind(ids.as_str());
    let batch = vec![
        forget("delete from chunks where segment in (select value from json_each(?1))"),
        forget("delete from segments where id in (select value from json_each(?1)) and state = 'deleting'"),
    ];
    platform.db().write(batch).await?;
    Ok(Deleted { segments, bytes, more: rows.len() as u64 >= limits.deleted })
}

/// Removes their objects. Those that others have stored stay.
async fn remove<P: Platform>(platform: &P, bucket: Option<&str>, rows: &[&Row]) -> Result<()> {
    let mut own = Vec::with_capacity(rows.len());
    for row in rows {
        if row.integer("is_imported")? == 0 {
            own.push(*row);
        }
    }
    let keys = texts(own, "key")?;
    if let Some(strange) = keys.iter().find(|key| !key.starts_with(OWN_KEYS)) {
        return Err(Error::Internal(format!("{strange} isn't an object of the drive's, and stays")));
    }
    if keys.is_empty() { Ok(()) } else { Ok(platform.bucket_of(bucket)?.delete(&keys).await?) }
}

/// What was doomed until then may go.
pub(super) fn over<P: Platform>(platform: &P) -> Timestamp {
    let grace = platform.settings().grace_secs;
    platform.host().now().plus_secs(-grace.saturating_add(grace.min(LATE_SECS)))
}
