//! Candidates: segments that have lost a page. Those without any are doomed.
//!
//! Triggers write the candidates down in the batch that removes the pages, so none is missed, and none is asked about
//! twice for the same loss.

use super::Limits;
use crate::error::Result;
use crate::ports::{Db, Host, Platform, Statement};

/// What a step has done.
pub(super) struct Doomed {
    /// Segments that were doomed.
    pub(super) segments: u64,
    /// Whether there are more candidates.
    pub(super) more: bool,
}

/// The candidates that the step is about: the same in each statement of the batch.
macro_rules! these {
    () => {
        "(select segment from candidates order by segment limit ?1)"
    };
}

const DOOM: &str = concat!(
    "update segments set state = 'doomed', state_at = ?2
      where state = 'live' and id in ",
    these!(),
    " and not exists (select 1 from page_segments p where p.segment = segments.id)
     returning id"
);

const MEASURE_LATER: &str = concat!(
    "insert or ignore into repack_candidates (segment)
     select c.segment from ",
    these!(),
    " c where exists (select 1 from page_segments p where p.segment = c.segment)"
);

const FORGET: &str = concat!("delete from candidates where segment in ", these!());

/// Dooms what nothing refers to; the others are to be measured. One round trip.
pub(super) async fn doom<P: Platform>(platform: &P, limits: &Limits) -> Result<Doomed> {
    let on_these = |sql: &'static str| Statement::new(sql).bind(limits.candidates);
    let batch = vec![
        on_these(DOOM).bind(platform.host().now()),
        on_these(MEASURE_LATER),
        on_these(FORGET),
        Statement::new("select 1 from candidates limit 1"),
    ];
    let results = platform.db().write(batch).await?;
    let rows = |at: usize| results.get(at).map_or(0, Vec::len) as u64;
    Ok(Doomed { segments: rows(0), more: rows(3) > 0 })
}
