//! What a segment holds is what is known of it: each chunk's SHA-256 and CRC-32, each extent's CRC-32.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::report::{Kind, Report};
use crate::error::Result;
use crate::ports::{Bucket, BucketError, Db, Host, Platform, Statement};

/// A larger object isn't read as a whole. Those that Ledge writes have some 8 MiB.
const LIMIT_BYTES: u64 = 32 << 20;

/// Reads the next segment that is in use; it, while there are more.
pub(super) async fn look<P: Platform>(platform: &P, after: u64, report: &mut Report) -> Result<Option<u64>> {
    let next = Statement::new(
        "select id, key, size_bytes, state, source_etag is not null as is_imported,
                (select b.name from buckets b where b.n = segments.bucket) as bucket
           from segments where id > ?1 order by id limit 1",
    )
    .bind(after);
    let of_next = "(select id from segments where id > ?1 order by id limit 1)";
    let chunks = Statement::new(format!(
        "select hash, offset, length, crc32 from chunks where segment = {of_next} order by offset"
    ))
    .bind(after);
    let extents = Statement::new(format!(
        "select p.id, json_extract(e.value, '$[1]') as offset, json_extract(e.value, '$[2]') as length,
                json_extract(e.value, '$[3]') as crc32
           from page_segments u cross join pages p on p.id = u.page cross join json_each(p.extents) e
          where u.segment = {of_next} and json_extract(e.value, '$[0]') = u.segment"
    ))
    .bind(after);
    let mut results = platform.db().read(vec![next, chunks, extents]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let (segments, chunks, extents) = (rows(), rows(), rows());
    let Some(segment) = segments.first() else { return Ok(None) };
    let (id, key, size_bytes) =
        (segment.unsigned("id")?, segment.text("key")?, segment.unsigned("size_bytes")?);
    // What others have stored, they may change: an entity tag tells, and is looked at elsewhere.
    if segment.text("state")? == "deleting"
        || segment.integer("is_imported")? == 1
        || (chunks.is_empty() && extents.is_empty())
    {
        return Ok(Some(id));
    }
    if size_bytes > LIMIT_BYTES {
        report.add(Kind::NotChecked, format!("{key}: {size_bytes} bytes are too many to be read at once"));
        return Ok(Some(id));
    }
    // Where its bucket isn't configured, that has been told.
    let Ok(bucket) = platform.bucket_of(segment.text_or_null("bucket")?) else { return Ok(Some(id)) };
    let bytes = match bucket.get(key, 0..size_bytes).await {
        Ok(bytes) => bytes,
        // The listing has told.
        Err(BucketError::NotFound(_) | BucketError::OutOfRange(_)) => return Ok(Some(id)),
        Err(error) => return Err(error.into()),
    };
    report.content_bytes += size_bytes;
    let within = |offset: u64, length: u64| {
        let (from, to) = (usize::try_from(offset).ok()?, usize::try_from(offset.checked_add(length)?).ok()?);
        bytes.get(from..to)
    };
    for row in &chunks {
        let (offset, length) = (row.unsigned("offset")?, row.unsigned("length")?);
        let Some(content) = within(offset, length) else {
            report.add(
                Kind::DamagedContent,
                format!("{key}: a chunk of {length} bytes at {offset} ends behind it"),
            );
            continue;
        };
        let hash = URL_SAFE_NO_PAD.encode(platform.host().sha256(content).await.0);
        if hash != row.text("hash")? || u64::from(crc32fast::hash(content)) != row.unsigned("crc32")? {
            report.add(
                Kind::DamagedContent,
                format!("{key}: the chunk of {length} bytes at {offset} isn't what was stored"),
            );
        }
    }
    for row in &extents {
        let (offset, length) = (row.unsigned("offset")?, row.unsigned("length")?);
        let is_whole = within(offset, length).is_some_and(|content| {
            row.unsigned("crc32").is_ok_and(|crc32| u64::from(crc32fast::hash(content)) == crc32)
        });
        if !is_whole {
            let what = format!(
                "{key}: {length} bytes at {offset}, of page {}, aren't what was stored",
                row.integer("id")?
            );
            report.add(Kind::DamagedContent, what);
        }
    }
    Ok(Some(id))
}
