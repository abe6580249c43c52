//! Segments that are live and have no page: triggers make candidates of them all, and a full pass of those that were
//! there before the triggers, or came from a dump.

use super::Limits;
use crate::error::Result;
use crate::ports::{Db, Platform, Statement};

/// Looks at the next segments behind the id `after`; returns where to go on, None at the end. One round trip.
pub(super) async fn pass<P: Platform>(platform: &P, after: u64, limits: &Limits) -> Result<Option<u64>> {
    let these = |sql: &'static str| Statement::new(sql).bind(after).bind(limits.passed);
    let batch = vec![
        these(
            "insert or ignore into candidates (segment)
             select s.id from (select id, state from segments where id > ?1 order by id limit ?2) s
              where s.state = 'live' and not exists (select 1 from page_segments p where p.segment = s.id)",
        ),
        these(
            "select max(id) as last, count(*) as looked_at
               from (select id from segments where id > ?1 order by id limit ?2)",
        ),
    ];
    let results = platform.db().write(batch).await?;
    let Some(row) = results.last().and_then(|rows| rows.first()) else { return Ok(None) };
    if row.unsigned("looked_at")? < limits.passed {
        return Ok(None);
    }
    Ok(Some(row.unsigned("last")?))
}
