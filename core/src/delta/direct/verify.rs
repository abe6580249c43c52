//! Verifying what has arrived: a segment a step, and in the end one commit.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Part;
use crate::blobs::rows;
use crate::delta::keep;
use crate::error::{Error, Result};
use crate::ingest::{self, Ingest, NewChunk, NewSegment, index_form};
use crate::jobs::{Claimed, Progress, Step};
use crate::manifest::{self, Extent};
use crate::once::write_once;
use crate::ports::{Bucket, BucketError, Db, DbError, Host, Platform, Statement, Timestamp};

/// What the checkpoint is once the commit has happened.
const COMMITTED: &str = "committed";

/// What was announced.
struct Announced {
    ingest: Ingest,
    space_key: i64,
    parts: Vec<Part>,
}

/// Verifies the next segment; after the last one, enters all of them. Its checkpoint is the CRC-32 of each chunk so far.
///
/// Up to two round trips and two bucket operations.
///
/// # Errors
/// [`Error::Invalid`] where a segment is missing or isn't what was announced; [`Error::NotFound`] where the time for it is
/// over.
pub async fn step<P: Platform>(platform: &P, job: &Claimed, upload: &str) -> Result<Step> {
    if job.checkpoint == COMMITTED {
        return Ok(done(job.progress));
    }
    let announced = find(platform, upload).await?;
    let mut crcs: Vec<u32> = match &job.checkpoint {
        Value::Null => Vec::new(),
        known => manifest::from_json(&known.to_string())?,
    };
    let progress = |verified: usize| {
        let bytes = |parts: &[Part]| parts.iter().map(Part::size_bytes).sum();
        Progress {
            items_done: verified as u64,
            items_total: Some(announced.parts.len() as u64),
            bytes_done: bytes(announced.parts.get(..verified).unwrap_or_default()),
            bytes_total: Some(bytes(&announced.parts)),
        }
    };
    let mut before = 0;
    let next = announced.parts.iter().position(|part| {
        before += part.chunks.len();
        before > crcs.len()
    });
    if let Some(n) = next
        && let Some(part) = announced.parts.get(n)
    {
        if n == 0 {
            announced.all_arrived(platform).await?;
        }
        let key = announced.ingest.segment_key(n as u64);
        let bucket = platform.bucket_of(announced.ingest.bucket_name())?;
        crcs.extend(verify(platform, (&bucket, &key), n, part).await?);
        if n + 1 < announced.parts.len() {
            return Ok(Step::More { progress: progress(n + 1), checkpoint: json!(crcs), after_secs: 0 });
        }
    }
    let progress = progress(announced.parts.len());
    announced.commit(platform, job, &crcs, progress).await?;
    Ok(done(progress))
}

fn done(progress: Progress) -> Step {
    Step::Done { progress, result: json!({ "stored_bytes": progress.bytes_done }) }
}

async fn find<P: Platform>(platform: &P, upload: &str) -> Result<Announced> {
    let look = Statement::new(
        "select i.id, i.key, i.expires_at, i.bucket,
                (select b.name from buckets b where b.n = i.bucket) as bucket_name, s.n as space_key, d.segments
           from direct_uploads d cross join ingests i on i.id = d.ingest cross join spaces s on s.id = d.space_id
          where d.id = ?1 and i.expires_at > ?2",
    );
    let look = look.bind(upload).bind(platform.host().now());
    let results = platform.db().read(vec![look]).await?;
    let row = results.first().and_then(|rows| rows.first()).ok_or_else(ingest::expired)?;
    Ok(Announced {
        ingest: Ingest::read(row)?,
        space_key: row.integer("space_key")?,
        parts: Part::from_row(row.text("segments")?)?,
    })
}

/// Reads a segment, and compares it with what was announced. Returns the CRC-32 of each chunk.
async fn verify<P: Platform, B: Bucket>(
    platform: &P,
    (bucket, key): (&B, &str),
    n: usize,
    part: &Part,
) -> Result<Vec<u32>> {
    let bytes = match bucket.get(key, 0..part.size_bytes()).await {
        Err(BucketError::NotFound(_) | BucketError::OutOfRange(_)) => return Err(not_there(n)),
        bytes => bytes?,
    };
    let host = platform.host();
    let wrong =
        |what: &str| Error::invalid("segments", format!("segment {n}: {what} isn't what was announced"));
    if host.sha256(&bytes).await != part.sha256 {
        return Err(wrong("its content"));
    }
    let mut crcs = Vec::with_capacity(part.chunks.len());
    let mut rest = bytes.as_slice();
    for (number, chunk) in part.chunks.iter().enumerate() {
        let (content, after) = rest.split_at_checked(chunk.length as usize).ok_or_else(|| not_there(n))?;
        if host.sha256(content).await != chunk.hash {
            return Err(wrong(&format!("chunk {number}")));
        }
        crcs.push(crc32fast::hash(content));
        rest = after;
    }
    Ok(crcs)
}

fn not_there(n: usize) -> Error {
    Error::invalid("segments", format!("segment {n} isn't in the bucket, or not all of it"))
}

impl Announced {
    /// Whether all segments are there, and each of its size: a store may take more than was signed.
    async fn all_arrived<P: Platform>(&self, platform: &P) -> Result<()> {
        let bucket = platform.bucket_of(self.ingest.bucket_name())?;
        let page = bucket.list(&ingest::prefix(&self.ingest.key), None).await?;
        let sizes: HashMap<String, u64> =
            page.objects.into_iter().map(|object| (object.key, object.size_bytes)).collect();
        for (n, part) in self.parts.iter().enumerate() {
            if sizes.get(&self.ingest.segment_key(n as u64)) != Some(&part.size_bytes()) {
                return Err(not_there(n));
            }
        }
        Ok(())
    }

    /// Enters segments and chunks into the index, as those of a pack: the reservation becomes theirs.
    async fn commit<P: Platform>(
        &self,
        platform: &P,
        job: &Claimed,
        crcs: &[u32],
        progress: Progress,
    ) -> Result<()> {
        let now = platform.host().now();
        let (segments, chunks) = self.rows(crcs);
        let mut batch = vec![job.guard(), self.guard(now)];
        batch.extend(rows::segments(&segments, &std::collections::HashSet::new(), now)?);
        batch.extend(rows::chunks(&chunks, self.space_key, keep::CUT_BY_A_CLIENT, now)?);
        batch.push(self.ingest.close());
        batch.push(keep::reserve(&segments, self.space_key)?);
        batch.push(job.checkpoint(&json!(COMMITTED), progress, now)?);
        let happened = Statement::new("select 1 from segments where id = ?1").bind(self.ingest.nth_id(0));
        let happened = async || -> Result<bool, DbError> {
            Ok(platform.db().read(vec![happened.clone()]).await?.iter().any(|rows| !rows.is_empty()))
        };
        match write_once(platform.db(), batch, happened).await {
            Err(DbError::Violated(why)) if why == "ingest_gone" => Err(ingest::expired()),
            done => Ok(done?),
        }
    }

    fn rows(&self, crcs: &[u32]) -> (Vec<NewSegment>, Vec<NewChunk>) {
        let mut crcs = crcs.iter();
        let mut rows = (Vec::new(), Vec::new());
        for (n, part) in (0..).zip(&self.parts) {
            let (id, mut offset) = (self.ingest.nth_id(n), 0);
            rows.0.push(NewSegment {
                id,
                key: self.ingest.segment_key(n),
                size_bytes: part.size_bytes(),
                bucket: self.ingest.bucket.as_ref().map(|bucket| bucket.n),
            });
            for (chunk, crc32) in part.chunks.iter().zip(&mut crcs) {
                let length = u64::from(chunk.length);
                let extent = Extent { segment: id, offset, length, crc32: *crc32 };
                rows.1.push(NewChunk { hash: index_form(chunk.hash), extent });
                offset += length;
            }
        }
        rows
    }

    fn guard(&self, now: Timestamp) -> Statement {
        Statement::new(
            "insert into guard (why) select 'ingest_gone' where not exists (
               select 1 from ingests where id = ?1 and expires_at > ?2)",
        )
        .bind(self.ingest.id)
        .bind(now)
    }
}
