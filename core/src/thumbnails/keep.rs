//! What a job has come to: thumbnails, or the reason why there are none.

use std::collections::BTreeMap;

use super::{Entry, Source};
use crate::blobs::{BlobRow, Layout, NewBlob, Stored};
use crate::error::{Error, Result};
use crate::ids::BlobId;
use crate::ingest::{INLINE_BYTES, Ingest, NewSegment, inline_etag};
use crate::jobs::Claimed;
use crate::manifest::{self, Extent, PageRef};
use crate::once::write_once;
use crate::ports::{Bucket, Db, DbError, Host, Platform, Statement};
use crate::reclaim;

/// How long storing may take before what was stored counts as abandoned.
const TTL_SECS: i64 = 60 * 60;

/// A thumbnail that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Which sizes it is for.
    pub sizes: Vec<u32>,
    /// Its media type.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Stores thumbnails: all as one object, unless they are as small as what is kept in a row. Where the picture has gone meanwhile,
/// nothing of them stays. Up to three round trips, and one bucket operation.
pub async fn keep<P: Platform>(
    platform: &P,
    job: &Claimed,
    blob: &str,
    source: &Source,
    images: Vec<Made>,
) -> Result<()> {
    let host = platform.host();
    let (mut sheet, mut entries) = (Vec::new(), Vec::new());
    for image in images {
        let etag = host.sha256(&image.bytes).await.to_string();
        entries.push(Entry {
            sizes: image.sizes,
            media_type: image.media_type.to_owned(),
            start: sheet.len() as u64,
            length: image.bytes.len() as u64,
            etag,
        });
        sheet.extend(image.bytes);
    }
    let new = if sheet.len() <= INLINE_BYTES {
        of(sheet, Layout::Inline, Stored::default(), None)
    } else {
        store(platform, sheet, source.bucket).await?
    };
    let id = BlobId::new(host);
    let now = host.now();
    let mut batch = vec![job.guard(), still_wanted(job, blob)];
    batch.extend(new.guard(now)?);
    let media_type = "application/octet-stream";
    batch.extend(new.rows(&BlobRow { id: &id, media_type, space_key: 0, now })?);
    batch.push(
        Statement::new("update thumbnails set job_id = null, sheet = ?2, images = ?3 where blob_id = ?1")
            .bind(blob)
            .bind(&id)
            .bind(manifest::to_json(&entries)?),
    );
    match write(platform, batch, "sheet", blob, id.as_str()).await {
        // Another worker has them, or nobody wants them any more.
        Err(DbError::Violated(_)) => {
            if let Some(ingest) = &new.ingest {
                let limits = reclaim::Limits::default();
                reclaim::discard(platform, ingest.id, &ingest.key, None, &limits).await?;
            }
            Ok(())
        }
        // Where it didn't happen, what was put expires with its ingest.
        done => Ok(done?),
    }
}

/// Notes why there are none. One round trip.
pub async fn refuse<P: Platform>(platform: &P, job: &Claimed, blob: &str, reason: &str) -> Result<()> {
    let note = Statement::new("update thumbnails set job_id = null, refused = ?2 where blob_id = ?1");
    let batch = vec![job.guard(), still_wanted(job, blob), note.bind(blob).bind(reason)];
    match write(platform, batch, "refused", blob, reason).await {
        Err(DbError::Violated(_)) => Ok(()),
        done => Ok(done?),
    }
}

/// Refuses the commit (`target_changed`) where the row isn't this job's any more, or has gone with the blob.
fn still_wanted(job: &Claimed, blob: &str) -> Statement {
    Statement::new(
        "insert into guard (why) select 'target_changed' where not exists (
           select 1 from thumbnails where blob_id = ?1 and job_id = ?2)",
    )
    .bind(blob)
    .bind(&job.id)
}

async fn write<P: Platform>(
    platform: &P,
    batch: Vec<Statement>,
    column: &str,
    blob: &str,
    value: &str,
) -> Result<(), DbError> {
    let happened = Statement::new(format!("select 1 from thumbnails where blob_id = ?1 and {column} = ?2"))
        .bind(blob)
        .bind(value);
    let happened = async || -> Result<bool, DbError> {
        Ok(platform.db().read(vec![happened.clone()]).await?.iter().any(|rows| !rows.is_empty()))
    };
    write_once(platform.db(), batch, happened).await
}

/// Puts them as one segment, under an ingest of its own.
async fn store<P: Platform>(platform: &P, sheet: Vec<u8>, bucket: Option<i64>) -> Result<NewBlob> {
    let host = platform.host();
    let open = Ingest::open_for_repack(host, host.now().plus_secs(TTL_SECS), bucket);
    let rows = platform.db().write(vec![open]).await?.pop().unwrap_or_default();
    let row = rows.first().ok_or_else(|| Error::Internal("an ingest without a row".to_owned()))?;
    let ingest = Ingest::read(row)?;
    let sha256 = host.sha256(&sheet).await;
    ingest.may_put(host.now())?;
    let (id, key) = (ingest.nth_id(0), ingest.segment_key(0));
    platform.bucket_of(ingest.bucket_name())?.put(&key, &sheet, sha256).await?;
    let length = sheet.len() as u64;
    let crc32 = crc32fast::hash(&sheet);
    let bucket = ingest.bucket.as_ref().map(|bucket| bucket.n);
    let stored = Stored {
        segments: vec![NewSegment { id, key, size_bytes: length, bucket }],
        chunks: Vec::new(),
        pages: vec![(id, vec![Extent { segment: id, offset: 0, length, crc32 }])],
    };
    let paged = |_| Layout::Paged { pages: vec![PageRef { start: 0, page: id, crc32 }], tail: Vec::new() };
    Ok(of(sheet, paged, stored, Some(ingest)))
}

fn of(
    sheet: Vec<u8>,
    layout: impl FnOnce(Vec<u8>) -> Layout,
    stored: Stored,
    ingest: Option<Ingest>,
) -> NewBlob {
    NewBlob {
        size_bytes: sheet.len() as u64,
        etag: inline_etag(&sheet),
        crc32: crc32fast::hash(&sheet),
        digests: BTreeMap::new(),
        layout: layout(sheet),
        stored,
        kept: Vec::new(),
        ingest,
    }
}
