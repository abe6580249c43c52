//! Objects that others have stored are still what they were when they were imported: the end of each is read as that.

use futures::{StreamExt, TryStreamExt, stream};

use super::report::{Kind, Report};
use crate::blobs::read_object;
use crate::error::Result;
use crate::plan::Place;
use crate::ports::{BucketError, Db, Platform, Row, Statement};

/// Objects that a step looks at.
const OBJECTS: i64 = 200;
/// How many are asked for at a time.
const AT_ONCE: usize = 4;

/// Looks at some; the last one, while there are more.
pub(super) async fn look<P: Platform>(platform: &P, after: u64, report: &mut Report) -> Result<Option<u64>> {
    let some = Statement::new(
        "select id, key, size_bytes, source_etag, state, (select b.name from buckets b where b.n = segments.bucket) as bucket
           from segments where source_etag is not null and id > ?1 order by id limit ?2",
    )
    .bind(after)
    .bind(OBJECTS);
    let rows = platform.db().read(vec![some]).await?.into_iter().next().unwrap_or_default();
    let changed: Vec<Option<String>> =
        stream::iter(&rows).map(|row| changed(platform, row)).buffered(AT_ONCE).try_collect().await?;
    for what in changed.into_iter().flatten() {
        report.add(Kind::ChangedSource, what);
    }
    Ok(rows.last().map(|row| row.unsigned("id")).transpose()?)
}

/// What is wrong with one.
async fn changed<P: Platform>(platform: &P, row: &Row) -> Result<Option<String>> {
    let (key, size_bytes) = (row.text("key")?, row.unsigned("size_bytes")?);
    let place = Place {
        bucket: row.text_or_null("bucket")?.map(str::to_owned),
        etag: row.text_or_null("source_etag")?.map(str::to_owned),
        ..Place::from(key)
    };
    if row.text("state")? != "live" {
        return Ok(None);
    }
    match read_object(platform, &place, size_bytes.saturating_sub(1)..size_bytes).await {
        // Where its bucket isn't configured, that has been told.
        Ok(_) | Err(BucketError::NotConfigured(_)) => Ok(None),
        Err(BucketError::Changed(_) | BucketError::OutOfRange(_)) => {
            let key = place.bucket.map_or_else(|| key.to_owned(), |bucket| format!("{bucket}:{key}"));
            Ok(Some(format!("{key} was changed or removed since it was imported")))
        }
        Err(error) => Err(error.into()),
    }
}
