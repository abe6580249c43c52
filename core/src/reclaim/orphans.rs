//! Orphans: objects that no row knows. None should exist; a full pass over the bucket finds those that do.
//!
//! An object may be new, with its commit still to come. So it goes only where an earlier pass has seen it without a row
//! already, longer ago than any upload may take, and longer than the grace time; and where its ingest has no row either:
//! a commit that is late believes in an old time, and would still find one that has expired. Only objects below
//! [`PREFIX`] are looked at.

use serde::{Deserialize, Serialize};

use super::{Limits, rowless, texts};
use crate::error::Result;
use crate::manifest;
use crate::ports::{Bucket, Buckets, Db, Host, Platform, Statement, Timestamp};

/// Where all segments are.
const PREFIX: &str = "ledge/seg/";
/// Greater than all their keys.
const BEHIND: &str = "ledge/seg0";

/// Twice the longest that an upload may take.
const AGE_SECS: i64 = 2 * 24 * 60 * 60;

/// What a step has done.
pub(super) struct Passed {
    /// Objects that were removed.
    pub(super) removed: u64,
    /// Where it goes on; None at the end.
    pub(super) next: Option<At>,
}

/// Where a pass goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct At {
    /// The next page of the listing; None at the beginning.
    cursor: Option<String>,
    /// The last key of the page before.
    after: String,
    /// Which bucket; None: the default one, which comes first.
    bucket: Option<String>,
}

/// Looks at some pages of the buckets' listings, the default one's first. Up to three round trips and two bucket operations
/// for 1,000 objects.
pub(super) async fn pass<P: Platform>(platform: &P, mut at: At, limits: &Limits) -> Result<Passed> {
    let mut removed = 0;
    for _ in 0..limits.listings.max(1) {
        let done = page(platform, &at).await?;
        removed += done.removed;
        let Some(next) = done.next else { return Ok(Passed { removed, next: None }) };
        at = next;
    }
    Ok(Passed { removed, next: Some(at) })
}

async fn page<P: Platform>(platform: &P, at: &At) -> Result<Passed> {
    let name = at.bucket.as_deref();
    // One that isn't configured any more has had its turn.
    let Ok(bucket) = platform.bucket_of(name) else {
        return Ok(Passed { removed: 0, next: next_bucket(platform, name) });
    };
    let page = match bucket.list(PREFIX, at.cursor.as_deref()).await {
        // One bucket that fails doesn't keep the pass from the others.
        Err(error) if name.is_some() => {
            platform.host().report(&format!("a full pass left a bucket out: {error}"));
            return Ok(Passed { removed: 0, next: next_bucket(platform, name) });
        }
        page => page?,
    };
    let keys: Vec<String> = page.objects.into_iter().map(|object| object.key).collect();
    let last = match page.next {
        Some(_) => keys.last().unwrap_or(&at.after).clone(),
        None => BEHIND.to_owned(),
    };
    let seen = Seen { keys: &keys, name, after: &at.after, last: &last };
    let mut removed = 0;
    let known = seen.look(platform).await?;
    // In a bucket that no space has ever chosen nothing is ours.
    if name.is_some() && known.bucket.is_none() {
        return Ok(Passed { removed, next: next_bucket(platform, name) });
    }
    if !known.rowless.is_empty() || known.notes {
        let old = seen.judge(platform, &known).await?;
        if !old.is_empty() {
            bucket.delete(&old).await?;
            let gone = "delete from orphans where key in (select value from json_each(?1))";
            platform.db().write(vec![Statement::new(gone).bind(manifest::to_json(&old)?)]).await?;
            removed += old.len() as u64;
        }
    }
    let next = match page.next {
        Some(next) => Some(At { cursor: Some(next), after: last, bucket: at.bucket.clone() }),
        None => next_bucket(platform, name),
    };
    Ok(Passed { removed, next })
}

/// The configured bucket behind that one.
fn next_bucket<P: Platform>(platform: &P, name: Option<&str>) -> Option<At> {
    let mut names = platform.bucket().names().into_iter();
    let next = names.find(|next| name.is_none_or(|name| next.as_str() > name))?;
    Some(At { bucket: Some(next), ..At::default() })
}

/// A page of a bucket's listing.
struct Seen<'a> {
    keys: &'a [String],
    /// The bucket's name.
    name: Option<&'a str>,
    /// Its keys are greater than this one,
    after: &'a str,
    /// and none is greater than this one.
    last: &'a str,
}

/// What is known of a page's keys.
struct Known {
    /// Those that have no row.
    rowless: Vec<String>,
    /// Whether any in the page's range were written down.
    notes: bool,
    /// The bucket's row, of one that isn't the default one.
    bucket: Option<i64>,
}

impl Seen<'_> {
    async fn look<P: Platform>(&self, platform: &P) -> Result<Known> {
        let notes = Statement::new("select key from orphans where key > ?1 and key <= ?2 limit 1");
        let bucket = Statement::new("select n from buckets where name = ?1 and stores = 1").bind(self.name);
        let batch = vec![rowless(self.keys)?, notes.bind(self.after).bind(self.last), bucket];
        let mut results = platform.db().read(batch).await?.into_iter();
        let mut rows = || results.next().unwrap_or_default();
        Ok(Known {
            rowless: texts(&rows(), "key")?,
            notes: !rows().is_empty(),
            bucket: rows().first().map(|row| row.integer("n")).transpose()?,
        })
    }

    /// Writes down those that are seen for the first time, forgets the others of the page's range, which have found their
    /// row or are gone, and returns those that were seen long ago.
    async fn judge<P: Platform>(&self, platform: &P, known: &Known) -> Result<Vec<String>> {
        let json = manifest::to_json(&known.rowless)?;
        let forget = "delete from orphans
            where key > ?2 and key <= ?3 and bucket is ?4 and key not in (select value from json_each(?1))";
        let note =
            "insert or ignore into orphans (key, seen_at, bucket) select value, ?2, ?3 from json_each(?1)";
        // All in one statement: an ingest's row goes, and its segments' come, with the same commit. What was put so long
        // ago has an ingest that has expired.
        let old = "select o.key from json_each(?1) e cross join orphans o on o.key = e.value
            where o.seen_at <= ?2 and o.bucket is ?4
              and substr(o.key, 11, 32) not in (select key from ingests where expires_at <= ?3)
              and not exists (select 1 from segments s
                               where substr(s.key, 11, 12) = substr(o.key, 11, 12) and s.key = o.key)";
        let now = platform.host().now();
        let batch = vec![
            Statement::new(forget).bind(json.as_str()).bind(self.after).bind(self.last).bind(known.bucket),
            Statement::new(note).bind(json.as_str()).bind(now).bind(known.bucket),
            Statement::new(old).bind(json).bind(seen_before(platform)).bind(now).bind(known.bucket),
        ];
        texts(&platform.db().write(batch).await?.pop().unwrap_or_default(), "key")
    }
}

fn seen_before<P: Platform>(platform: &P) -> Timestamp {
    platform.host().now().plus_secs(-AGE_SECS.max(platform.settings().grace_secs))
}
