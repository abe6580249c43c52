//! The bucket's listing beside the rows of segments: both are in the order of keys, so one pass tells what either lacks.

use std::collections::{HashMap, HashSet};

use super::report::{Kind, Report};
use crate::backup::META;
use crate::buckets::OWN_KEYS;
use crate::error::Result;
use crate::manifest::to_json;
use crate::ports::{Bucket, BucketError, Db, Listed, Platform, Row, Statement};

/// Where segments lie.
const SEGMENTS: &str = "ledge/seg/";
/// Behind every key of a segment: `0` follows `/`.
const BEHIND_SEGMENTS: &str = "ledge/seg0";

/// A bucket, and what it is called; None: the default one.
struct Named<'a, B> {
    bucket: &'a B,
    name: Option<&'a str>,
}

impl<B> Named<'_, B> {
    /// A key, with the bucket where that isn't the default one.
    fn show(&self, key: &str) -> String {
        self.name.map_or_else(|| key.to_owned(), |name| format!("{name}:{key}"))
    }
}

/// Looks at one page of the listing of a bucket that is configured; where the next one begins.
pub(super) async fn look<P: Platform>(
    platform: &P,
    name: Option<&str>,
    cursor: Option<&str>,
    after: &str,
    report: &mut Report,
) -> Result<Option<(String, String)>> {
    let bucket = platform.bucket_of(name)?;
    let page = bucket.list(OWN_KEYS, cursor).await?;
    let bucket = Named { bucket: &bucket, name };
    let last = page.objects.last().map_or(after, |object| object.key.as_str()).to_owned();
    report.objects += page.objects.len() as u64;
    report.object_bytes += page.objects.iter().map(|object| object.size_bytes).sum::<u64>();
    let (from, to) = (after.max(SEGMENTS), if page.next.is_some() { last.as_str() } else { BEHIND_SEGMENTS });
    let (segments, other): (Vec<&Listed>, Vec<&Listed>) =
        page.objects.iter().partition(|object| object.key.starts_with(SEGMENTS));
    if to > from {
        compare(platform, &bucket, from, to.min(BEHIND_SEGMENTS), &segments, report).await?;
    }
    others(platform, &bucket, &other, report).await?;
    Ok(page.next.map(|next| (next, last)))
}

async fn compare<P: Platform, B: Bucket>(
    platform: &P,
    bucket: &Named<'_, B>,
    from: &str,
    to: &str,
    listed: &[&Listed],
    report: &mut Report,
) -> Result<()> {
    let rows = read(platform.db(), bucket.name, from, to, listed).await?;
    let mut objects: HashMap<&str, u64> =
        listed.iter().map(|object| (object.key.as_str(), object.size_bytes)).collect();
    for row in &rows.segments {
        let (key, size_bytes) = (row.text("key")?, row.unsigned("size_bytes")?);
        match objects.remove(key) {
            Some(listed) if listed == size_bytes => {}
            Some(listed) => {
                report.add(
                    Kind::WrongSize,
                    format!("{} has {listed} bytes, and its row says {size_bytes}", bucket.show(key)),
                );
            }
            // Stored after the listing was read, perhaps; of what is on its way out, nobody cares.
            None if row.integer("needed")? == 1 && !is_there(bucket.bucket, key, size_bytes).await? => {
                report.add(
                    Kind::MissingObject,
                    format!("{}, of {size_bytes} bytes, isn't in the bucket", bucket.show(key)),
                );
            }
            None => {}
        }
    }
    for (key, size_bytes) in objects {
        let is_uploading = ingest_of(key).is_some_and(|ingest| rows.ingests.contains(ingest));
        // Removed after the listing was read, perhaps.
        if !is_uploading && is_there(bucket.bucket, key, size_bytes).await? {
            report.add(
                Kind::UnknownObject,
                format!("{}, of {size_bytes} bytes, is known to no row", bucket.show(key)),
            );
        }
    }
    Ok(())
}

struct Rows {
    segments: Vec<Row>,
    ingests: HashSet<String>,
}

/// In one batch: an upload's objects belong to its ingest, or, once it is committed, to segments.
async fn read<D: Db>(db: &D, bucket: Option<&str>, from: &str, to: &str, listed: &[&Listed]) -> Result<Rows> {
    // The index has 48 bits of each key, which begin behind `ledge/seg/`.
    let segments = Statement::new(
        "select s.key, s.size_bytes,
                s.state = 'live' or (s.state = 'doomed' and exists (select 1 from chunks c where c.segment = s.id)) as needed
           from segments s
          where substr(s.key, 11, 12) between substr(?1, 11, 12) and ?3 and s.key > ?1 and s.key <= ?2
            and s.bucket is (select n from buckets where name = ?4)",
    )
    .bind(from)
    .bind(to)
    .bind(to.strip_prefix(SEGMENTS).map_or("~", |rest| rest.get(..12).unwrap_or(rest)))
    .bind(bucket);
    let mut keys: Vec<&str> = listed.iter().filter_map(|object| ingest_of(&object.key)).collect();
    keys.dedup();
    let ingests =
        Statement::new("select key from ingests where id > 0 and key in (select value from json_each(?1))")
            .bind(to_json(&keys)?);
    let mut results = db.read(vec![segments, ingests]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let segments = rows();
    let ingests = rows().iter().map(|row| row.text("key").map(str::to_owned)).collect::<Result<_, _>>()?;
    Ok(Rows { segments, ingests })
}

fn ingest_of(key: &str) -> Option<&str> {
    key.strip_prefix(SEGMENTS)?.split('/').next()
}

/// Asks the bucket itself, for its last byte.
async fn is_there<B: Bucket>(bucket: &B, key: &str, size_bytes: u64) -> Result<bool> {
    match bucket.get(key, size_bytes.saturating_sub(1)..size_bytes).await {
        Ok(_) => Ok(true),
        Err(BucketError::NotFound(_) | BucketError::OutOfRange(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Objects that aren't segments: of dumps, or nobody's.
async fn others<P: Platform, B: Bucket>(
    platform: &P,
    bucket: &Named<'_, B>,
    listed: &[&Listed],
    report: &mut Report,
) -> Result<()> {
    let dump_of = |object: &Listed| {
        object.key.strip_prefix(META).and_then(|rest| rest.split('/').next()).map(str::to_owned)
    };
    let mut dumps: Vec<String> = listed.iter().filter_map(|object| dump_of(object)).collect();
    dumps.dedup();
    let known = Statement::new("select id from backups where id in (select value from json_each(?1))")
        .bind(to_json(&dumps)?);
    let rows = platform.db().read(vec![known]).await?.into_iter().next().unwrap_or_default();
    let known: HashSet<&str> = rows.iter().map(|row| row.text("id")).collect::<Result<_, _>>()?;
    for object in listed {
        if !dump_of(object).is_some_and(|dump| known.contains(dump.as_str()))
            && is_there(bucket.bucket, &object.key, object.size_bytes).await?
        {
            report.add(
                Kind::UnknownObject,
                format!("{}, of {} bytes, is known to no row", bucket.show(&object.key), object.size_bytes),
            );
        }
    }
    Ok(())
}
