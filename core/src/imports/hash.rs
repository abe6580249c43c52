//! Checksums of imported content: none is known until something needs it, and then a job reads it.
//!
//! A blob that isn't hashed yet has one page with one extent, which nothing else names: whatever would cut or join it is
//! refused until it is hashed ([`want`]).

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::Digest;
use sha2::digest::common::hazmat::SerializableState;

use super::UNKNOWN_CRC32;
use crate::blobs::{keyed_page, keys, read_object};
use crate::error::{Conflict, Error, Result};
use crate::ids::{AccountId, JobId, SpaceId};
use crate::jobs::{self, By, Claimed, Step, Work};
use crate::manifest::{self, Extent, PAGE_EXTENTS, PageRef, combine_crc32};
use crate::plan::Place;
use crate::ports::{BucketError, Db, Host, Platform, Row, Statement};
use crate::token::Token;

/// How much is in memory at a time, and the least that an extent has.
const READ_BYTES: u64 = 8 * 1024 * 1024;
/// How much a step reads.
const STEP_BYTES: u64 = 32 * 1024 * 1024;
/// How many objects a step reads.
const STEP_BLOBS: u64 = 16;
/// How many blobs one statement asks of.
const BLOBS: usize = 5000;

/// Has a job hash blobs, all of which aren't hashed yet, unless one does already; the error that says which. Up to two round
/// trips for 5,000 blobs.
pub(crate) async fn want<P: Platform>(
    platform: &P,
    (token, account, space): (&Token, &AccountId, &SpaceId),
    blobs: &[&str],
) -> Error {
    match job(platform, (token, account, space), blobs).await {
        Ok(job) => Error::NeedsHash { job },
        Err(error) => error,
    }
}

async fn job<P: Platform>(
    platform: &P,
    (token, account, space): (&Token, &AccountId, &SpaceId),
    blobs: &[&str],
) -> Result<JobId> {
    let pieces = blobs.chunks(BLOBS).map(|some| manifest::to_json(&some)).collect::<Result<Vec<_>>>()?;
    let waiting = "select count(*) as waiting, max(w.job) as job
         from json_each(?1) e cross join wanted_hashes w on w.blob = e.value";
    let look = pieces.iter().map(|blobs| Statement::new(waiting).bind(blobs.as_str())).collect();
    // The one that was asked last: ids are in the order of their times.
    let (mut waiting, mut last) = (0, None);
    for row in platform.db().read(look).await?.iter().flatten() {
        waiting += row.unsigned("waiting")?;
        last = row.text_or_null("job")?.map(str::to_owned).max(last);
    }
    if let Some(job) = last.as_deref().and_then(JobId::parse).filter(|_| waiting == blobs.len() as u64) {
        return Ok(job);
    }
    let by = By::Account { account, space: Some(space), token: Some(token) };
    let (id, row) = jobs::row(platform.host(), &Work::Hash, by, platform.host().now())?;
    let mut batch = vec![row];
    let wanted = "insert into wanted_hashes (blob, job) select b.id, ?2
         from json_each(?1) e cross join blobs b on b.id = e.value where true on conflict do nothing";
    batch.extend(pieces.iter().map(|blobs| Statement::new(wanted).bind(blobs.as_str()).bind(&id)));
    jobs::commit(platform, Work::Hash.lane(), &id, batch).await?;
    Ok(id)
}

/// Where the job is.
#[derive(Debug, Default, Serialize, Deserialize)]
struct At {
    /// The object that is read.
    partly: Option<Partly>,
    /// Objects that were changed or removed since they were imported.
    changed: u64,
}

/// How far an object is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Partly {
    blob: String,
    /// The bytes that were read.
    at: u64,
    /// The CRC-32 of each extent so far; of the last one, as far as it was read.
    crcs: Vec<u32>,
    /// The state of SHA-256.
    sha256: String,
}

/// A blob that isn't hashed.
struct Unhashed {
    id: String,
    size_bytes: u64,
    pages: String,
    extents: String,
    extent: Extent,
    page: u64,
    place: Place,
}

const NEXT: &str = concat!(
    "select w.blob as id, b.size_bytes, b.crc32, b.pages, 0 as start, p.id as page, p.extents, ",
    keys!(),
    " from (select blob from wanted_hashes where job = ?1 order by blob limit ?2) w
     cross join blobs b on b.id = w.blob
      left join pages p on p.id = json_extract(b.pages, '$[0][1]')"
);

/// Reads some of it. Two round trips, and a bucket operation for each 8 MiB.
///
/// # Errors
/// In the end [`Conflict::SourceChanged`] where an object was changed or removed since it was imported.
pub async fn step<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let mut at: At = match &job.checkpoint {
        serde_json::Value::Null => At::default(),
        known => manifest::from_json(&known.to_string())?,
    };
    let next = Statement::new(NEXT).bind(&job.id).bind(STEP_BLOBS);
    let rows = platform.db().read(vec![next]).await?.pop().unwrap_or_default();
    if rows.is_empty() {
        if at.changed > 0 {
            return Err(Error::Conflict(Conflict::SourceChanged));
        }
        return Ok(Step::Done {
            progress: job.progress,
            result: json!({ "hashed": job.progress.items_done }),
        });
    }
    let (mut batch, mut progress, mut over) = (Vec::new(), job.progress, Vec::new());
    let before = at.partly.take();
    let mut left = STEP_BYTES;
    for row in &rows {
        let id = row.text("id")?;
        if row.integer("crc32")? != UNKNOWN_CRC32 {
            over.push(id.to_owned());
            continue;
        }
        let blob = Unhashed::read(row)?;
        let partly = before.clone().filter(|partly| partly.blob == id).unwrap_or_else(|| Partly::begin(id));
        let begun_at = partly.at;
        match blob.hash(platform, partly, &mut left).await {
            Ok(partly) => {
                progress.bytes_done += partly.at - begun_at;
                if partly.at < blob.size_bytes {
                    at.partly = Some(partly);
                    break;
                }
                batch.extend(blob.hashed(&partly)?);
                over.push(blob.id);
                progress.items_done += 1;
            }
            Err(Error::Conflict(Conflict::SourceChanged)) => {
                at.changed += 1;
                over.push(blob.id);
            }
            Err(error) => return Err(error),
        }
    }
    let checkpoint = serde_json::to_value(&at).map_err(|error| Error::Internal(error.to_string()))?;
    batch.insert(0, job.guard());
    batch.push(
        Statement::new(
            "delete from wanted_hashes where blob in (select value from json_each(?1)) and job = ?2",
        )
        .bind(manifest::to_json(&over)?)
        .bind(&job.id),
    );
    batch.push(job.checkpoint(&checkpoint, progress, platform.host().now())?);
    platform.db().write(batch).await?;
    Ok(Step::More { progress, checkpoint, after_secs: 0 })
}

impl Partly {
    fn begin(blob: &str) -> Self {
        let sha256 = BASE64.encode(&sha2::Sha256::new().serialize());
        Self { blob: blob.to_owned(), at: 0, crcs: Vec::new(), sha256 }
    }

    fn hasher(&self) -> Result<sha2::Sha256> {
        let unreadable = || Error::Internal("a job's state of SHA-256 can't be read".to_owned());
        let bytes = BASE64.decode(self.sha256.as_bytes()).map_err(|_| unreadable())?;
        let state = bytes.as_slice().try_into().map_err(|_| unreadable())?;
        sha2::Sha256::deserialize(state).map_err(|_| unreadable())
    }
}

impl Unhashed {
    fn read(row: &Row) -> Result<Self> {
        let unusual = || Error::Internal("imported content isn't one extent".to_owned());
        let mut page = keyed_page(row)?;
        let [extent] = page.extents[..] else { return Err(unusual()) };
        Ok(Self {
            id: row.text("id")?.to_owned(),
            size_bytes: row.unsigned("size_bytes")?,
            pages: row.text("pages")?.to_owned(),
            extents: row.text("extents")?.to_owned(),
            extent,
            page: row.unsigned("page")?,
            place: page.keys.remove(&extent.segment).ok_or_else(unusual)?,
        })
    }

    /// How long its extents will be: edits read one of them, so they should be short, and a page has so many.
    fn extent_bytes(&self) -> u64 {
        self.size_bytes.div_ceil(PAGE_EXTENTS as u64).next_multiple_of(READ_BYTES)
    }

    /// Reads on, as far as `left` allows, at least one piece.
    async fn hash<P: Platform>(&self, platform: &P, mut partly: Partly, left: &mut u64) -> Result<Partly> {
        let (mut hasher, extent_bytes) = (partly.hasher()?, self.extent_bytes());
        while partly.at < self.size_bytes && *left > 0 {
            let within = partly.at % extent_bytes;
            let length = READ_BYTES.min(self.size_bytes - partly.at).min(extent_bytes - within);
            let from = self.extent.offset + partly.at;
            let bytes = match read_object(platform, &self.place, from..from + length).await {
                // It has lost its end.
                Err(BucketError::OutOfRange(key)) => Err(BucketError::Changed(key)),
                read => read,
            }?;
            hasher.update(&bytes);
            let crc32 = crc32fast::hash(&bytes);
            match partly.crcs.last_mut() {
                Some(last) if within > 0 => *last = combine_crc32(*last, crc32, length),
                _ => partly.crcs.push(crc32),
            }
            partly.at += length;
            *left = left.saturating_sub(length);
        }
        partly.sha256 = BASE64.encode(&hasher.serialize());
        Ok(partly)
    }

    /// The statements that say what is known now: refused (`pages_changed`) where somebody else has said it.
    fn hashed(&self, partly: &Partly) -> Result<[Statement; 3]> {
        let (mut extents, mut start, mut crc) = (Vec::with_capacity(partly.crcs.len()), 0, 0);
        for crc32 in &partly.crcs {
            let length = self.extent_bytes().min(self.size_bytes - start);
            let offset = self.extent.offset + start;
            extents.push(Extent { segment: self.extent.segment, offset, length, crc32: *crc32 });
            (start, crc) = (start + length, combine_crc32(crc, *crc32, length));
        }
        let sha256 = BASE64.encode(&partly.hasher()?.finalize());
        let unchanged = Statement::new(
            "insert into guard (why) select 'pages_changed' where exists (select 1 from blobs where id = ?1)
               and not exists (select 1 from blobs b cross join pages p
                                where b.id = ?1 and b.pages = ?2 and p.id = ?3 and p.extents = ?4)",
        )
        .bind(self.id.as_str())
        .bind(self.pages.as_str())
        .bind(self.page)
        .bind(self.extents.as_str());
        let page = Statement::new("update pages set extents = ?2 where id = ?1 and extents = ?3")
            .bind(self.page)
            .bind(manifest::to_json(&extents)?)
            .bind(self.extents.as_str());
        let list = [PageRef { start: 0, page: self.page, crc32: crc }];
        let blob = Statement::new("update blobs set crc32 = ?2, pages = ?3, digests = ?4 where id = ?1")
            .bind(self.id.as_str())
            .bind(i64::from(crc))
            .bind(manifest::to_json(&list)?)
            .bind(json!({ "sha-256": sha256 }).to_string());
        Ok([unchanged, page, blob])
    }
}
