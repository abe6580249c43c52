//! Removing uploads that were abandoned without a word, and what is remembered of finished ones.

use crate::error::Result;
use crate::ports::{Db, Host, Platform, Statement};
use crate::versions::remove_unused_pages;

/// So many parts of folders go at once, but for those of one folder, which go together.
const PARTS: u64 = 5000;

/// Removes up to `limit` uploads that have expired, the oldest first, with all that only they have; returns how many. A
/// bounded step that is safe to repeat: call it until it returns 0. One round trip.
pub async fn expire<P: Platform>(platform: &P, limit: u64) -> Result<u64> {
    let mut batch = vec![
        Statement::new(
            "delete from uploads where id in (
               select id from (
                 select id, sum(parts) over (order by expires_at, id rows unbounded preceding) - parts as before
                   from (select id, parts, expires_at from uploads
                          where expires_at <= ?1 order by expires_at limit ?2) page) sizes
                where before < ?3) returning id",
        )
        .bind(platform.host().now())
        .bind(limit)
        .bind(PARTS),
    ];
    batch.extend(remove_unused_pages());
    let results = platform.db().write(batch).await?;
    Ok(results.first().map_or(0, |rows| rows.len() as u64))
}
