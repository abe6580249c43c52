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
use crate::ports::{Bucket, Db, Host, Platform, Statement, Timestamp};

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
}

/// Looks at some pages of the bucket's listing. Up to three round trips and two bucket operations for 1,000 objects.
pub(super) async fn pass<P: Platform>(platform: &P, mut at: At, limits: &Limits) -> Result<Passed> {
    let mut removed = 0;
    for _ in 0..limits.listings.max(1) {
        let page = platform.bucket().list(PREFIX, at.cursor.as_deref()).await?;
        let keys: Vec<String> = page.objects.into_iter().map(|object| object.key).collect();
        let last = match page.next {
            Some(_) => keys.last().unwrap_or(&at.after).clone(),
            None => BEHIND.to_owned(),
        };
        let unknown = look(platform, &keys, &at.after, &last).await?;
        if !unknown.keys.is_empty() || unknown.notes {
            removed += judge(platform, &unknown.keys, &at.after, &last).await?;
        }
        let Some(next) = page.next else { return Ok(Passed { removed, next: None }) };
        at = At { cursor: Some(next), after: last };
    }
    Ok(Passed { removed, next: Some(at) })
}

/// What is known of a page's keys.
struct Unknown {
    /// Those that have no row.
    keys: Vec<String>,
    /// Whether any in the page's range were written down.
    notes: bool,
}

async fn look<P: Platform>(platform: &P, keys: &[String], after: &str, last: &str) -> Result<Unknown> {
    let notes = Statement::new("select key from orphans where key > ?1 and key <= ?2 limit 1");
    let batch = vec![rowless(keys)?, notes.bind(after).bind(last)];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    Ok(Unknown { keys: texts(&rows(), "key")?, notes: !rows().is_empty() })
}

/// Writes down those that are seen for the first time, forgets the others of the page's range, which have found their
/// row or are gone, and removes those that were seen long ago.
async fn judge<P: Platform>(platform: &P, keys: &[String], after: &str, last: &str) -> Result<u64> {
    let json = manifest::to_json(&keys)?;
    let forget = "delete from orphans
        where key > ?2 and key <= ?3 and key not in (select value from json_each(?1))";
    let note = "insert or ignore into orphans (key, seen_at) select value, ?2 from json_each(?1)";
    // All in one statement: an ingest's row goes, and its segments' come, with the same commit. What was put so long ago
    // has an ingest that has expired.
    let old = "select o.key from json_each(?1) e cross join orphans o on o.key = e.value
        where o.seen_at <= ?2
          and substr(o.key, 11, 32) not in (select key from ingests where expires_at <= ?3)
          and not exists (select 1 from segments s
                           where substr(s.key, 11, 12) = substr(o.key, 11, 12) and s.key = o.key)";
    let now = platform.host().now();
    let batch = vec![
        Statement::new(forget).bind(json.as_str()).bind(after).bind(last),
        Statement::new(note).bind(json.as_str()).bind(now),
        Statement::new(old).bind(json).bind(seen_before(platform)).bind(now),
    ];
    let old = texts(&platform.db().write(batch).await?.pop().unwrap_or_default(), "key")?;
    if old.is_empty() {
        return Ok(0);
    }
    platform.bucket().delete(&old).await?;
    let gone = "delete from orphans where key in (select value from json_each(?1))";
    platform.db().write(vec![Statement::new(gone).bind(manifest::to_json(&old)?)]).await?;
    Ok(old.len() as u64)
}

fn seen_before<P: Platform>(platform: &P) -> Timestamp {
    platform.host().now().plus_secs(-AGE_SECS.max(platform.settings().grace_secs))
}
