//! Uploads that never committed: what they have stored goes, and their row last.
//!
//! A commit wants an ingest that hasn't expired, whatever time it believes to be. So before an object goes, the row's
//! time becomes 0: what commits before that keeps its objects and has no row any more; what comes after is refused.
//! No put begins shortly before an ingest expires, and the sweep waits for [`SETTLED_SECS`] more, so nothing arrives
//! behind its back.

use std::collections::HashMap;

use super::{Limits, without_row};
use crate::buckets::{configured, names};
use crate::error::Result;
use crate::ingest;
use crate::ports::{Bucket, Db, Host, Platform, Statement};

/// So long after an ingest has expired nothing is under way any more.
const SETTLED_SECS: i64 = 60 * 60;

/// What a step has done.
pub(super) struct Discarded {
    /// Ingests that are gone.
    pub(super) ingests: u64,
    /// The ingest that isn't empty yet, and where its listing goes on.
    pub(super) rest: Option<(u64, String)>,
    /// Whether there may be more.
    pub(super) more: bool,
}

/// What became of one ingest's objects.
#[derive(Debug, Default)]
pub struct Emptied {
    /// Objects that are gone.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Where the listing of the others goes on; None where there are none.
    pub rest: Option<String>,
}

/// Removes what expired ingests have stored, in buckets that are configured. Two round trips, and for each ingest one more and two bucket operations
/// for 1,000 objects.
pub(super) async fn expire<P: Platform>(
    platform: &P,
    rest: Option<&(u64, String)>,
    limits: &Limits,
) -> Result<Discarded> {
    let expired = Statement::new(concat!(
        "update ingests set expires_at = 0
          where id in (select id from ingests where expires_at <= ?1 and ",
        configured!("bucket", "?3"),
        " order by expires_at limit ?2)
         returning id, key, (select b.name from buckets b where b.n = ingests.bucket) as bucket",
    ))
    .bind(platform.host().now().plus_secs(-SETTLED_SECS))
    .bind(limits.ingests)
    .bind(names(platform)?);
    let rows = platform.db().write(vec![expired]).await?.pop().unwrap_or_default();
    let mut listings = limits.listings;
    let (mut emptied, mut unfinished, mut failure) = (Vec::new(), None, None);
    for row in &rows {
        let (id, key) = (row.unsigned("id")?, row.text("key")?);
        let cursor = rest.filter(|(ingest, _)| *ingest == id).map(|(_, cursor)| cursor.clone());
        match empty(platform, row.text_or_null("bucket")?, key, cursor, &mut listings).await {
            Ok(Emptied { rest: None, .. }) => emptied.push(id),
            Ok(Emptied { rest: Some(cursor), .. }) => {
                unfinished = Some((id, cursor));
                break;
            }
            // One bucket that fails doesn't keep what lies in the others.
            Err(error) => failure = Some(error),
        }
        if listings == 0 {
            break;
        }
    }
    if let (Some(failure), true) = (failure, emptied.is_empty()) {
        return Err(failure);
    }
    let more = rows.len() as u64 >= limits.ingests || emptied.len() < rows.len();
    if !emptied.is_empty() {
        let remove: Vec<Statement> = emptied.iter().map(|id| remove(*id)).collect();
        platform.db().write(remove).await?;
    }
    Ok(Discarded { ingests: emptied.len() as u64, rest: unfinished, more })
}

/// Removes what one upload that failed has stored. An ingest without a row was committed: its segments are in use.
pub async fn discard<P: Platform>(
    platform: &P,
    ingest: u64,
    key: &str,
    cursor: Option<String>,
    limits: &Limits,
) -> Result<Emptied> {
    let expire = Statement::new(
        "update ingests set expires_at = 0 where id = ?1 and key = ?2
         returning id, (select b.name from buckets b where b.n = ingests.bucket) as bucket",
    )
    .bind(ingest)
    .bind(key);
    let expired = platform.db().write(vec![expire]).await?;
    let Some(row) = expired.iter().flatten().next() else { return Ok(Emptied::default()) };
    let mut listings = limits.listings;
    let emptied = empty(platform, row.text_or_null("bucket")?, key, cursor, &mut listings).await?;
    if emptied.rest.is_none() {
        platform.db().write(vec![remove(ingest)]).await?;
    }
    Ok(emptied)
}

fn remove(ingest: u64) -> Statement {
    Statement::new("delete from ingests where id = ?1 and expires_at = 0").bind(ingest)
}

/// Removes the objects of an ingest, but those that have a row, until `listings` are used up.
async fn empty<P: Platform>(
    platform: &P,
    bucket: Option<&str>,
    key: &str,
    mut cursor: Option<String>,
    listings: &mut u32,
) -> Result<Emptied> {
    let bucket = platform.bucket_of(bucket)?;
    let mut emptied = Emptied::default();
    loop {
        let page = bucket.list(&ingest::prefix(key), cursor.as_deref()).await?;
        *listings = listings.saturating_sub(1);
        let sizes: HashMap<String, u64> =
            page.objects.into_iter().map(|object| (object.key, object.size_bytes)).collect();
        let keys = without_row(platform, &sizes.keys().cloned().collect::<Vec<_>>()).await?;
        if !keys.is_empty() {
            bucket.delete(&keys).await?;
        }
        emptied.objects += keys.len() as u64;
        emptied.bytes += keys.iter().filter_map(|key| sizes.get(key)).sum::<u64>();
        cursor = page.next;
        if cursor.is_none() || *listings == 0 {
            return Ok(Emptied { rest: cursor, ..emptied });
        }
    }
}
