//! How much of a segment is in use.

use std::collections::HashMap;
use std::ops::Range;

use super::super::Limits;
use crate::error::Result;
use crate::manifest;
use crate::plan::Place;
use crate::ports::{Buckets, Db, Host, Platform, Row, Rows, Statement};

/// A segment of which little is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Victim {
    /// Its id.
    pub(super) segment: u64,
    /// Where it is.
    pub(super) place: Place,
    /// The bucket's row.
    pub(super) bucket: Option<i64>,
    /// What pages name of it, in order, without gaps between what touches.
    pub(super) live: Vec<Range<u64>>,
}

impl Victim {
    fn live_bytes(&self) -> u64 {
        self.live.iter().map(|range| range.end - range.start).sum()
    }
}

/// What a step has found out.
pub(super) struct Measured {
    /// What is worth packing together now.
    pub(super) victims: Vec<Victim>,
    /// Candidates that are none any more: much of them is in use, or they are on their way out already.
    pub(super) settled: Vec<u64>,
    /// Behind which candidate to go on; None at the end.
    pub(super) next: Option<u64>,
}

/// The most text that pages may have which are changed together: a batch carries it twice.
const MAX_PAGE_BYTES: u64 = 2_000_000;
/// The most parts that are put together: each is a condition on the chunks that move along.
const MAX_PARTS: usize = 128;
/// Parts that pages name more than once are checked more than once: up to here.
const MAX_CHECKED_BYTES: u64 = 64 * 1024 * 1024;

const CANDIDATES: &str = "select c.segment, s.key, s.size_bytes, s.state, s.state_at, s.bucket,
        s.source_etag is not null as is_imported, (select b.name from buckets b where b.n = s.bucket) as bucket_name
   from (select segment from repack_candidates where segment > ?1 order by segment limit ?2) c
   left join segments s on s.id = c.segment
  order by c.segment";

/// What the pages of the segment ?1 name of it, if there are no more than ?2 of them.
const PARTS: &str = "select ?1 as segment,
        (select count(*) from (select 1 from page_segments where segment = ?1 limit ?2 + 1)) as pages,
        (select sum(length(p.extents)) from (select page from page_segments where segment = ?1 limit ?2) r
          cross join pages p on p.id = r.page) as page_bytes,
        (select json_group_array(json_array(named.start, named.length)) from (
            select distinct json_extract(e.value, '$[1]') as start, json_extract(e.value, '$[2]') as length
              from (select page from page_segments where segment = ?1 limit ?2) r
             cross join pages p on p.id = r.page cross join json_each(p.extents) e
             where json_extract(e.value, '$[0]') = ?1) named) as parts";

/// Two round trips.
pub(super) async fn measure<P: Platform>(platform: &P, after: u64, limits: &Limits) -> Result<Measured> {
    let look = Statement::new(CANDIDATES).bind(after).bind(limits.measured);
    let rows = platform.db().read(vec![look]).await?.pop().unwrap_or_default();
    let mut measured = Measured { victims: Vec::new(), settled: Vec::new(), next: None };
    let settled_since = platform.host().now().plus_secs(-limits.settled_secs);
    let mut asked = Vec::new();
    let names = platform.bucket().names();
    for row in &rows {
        let segment = row.unsigned("segment")?;
        measured.next = Some(segment);
        // What was imported isn't ours to copy: it would be there twice.
        if row.text_or_null("state")? != Some("live") || row.integer("is_imported")? == 1 {
            measured.settled.push(segment);
        } else if row.integer("state_at")? <= settled_since.0
            // Where the bucket can't be reached, the candidate stays one.
            && row.text_or_null("bucket_name")?.is_none_or(|name| names.iter().any(|known| known == name))
        {
            asked.push((segment, row));
        }
    }
    measured.next = measured.next.filter(|_| rows.len() as u64 >= limits.measured);
    let batch =
        asked.iter().map(|(segment, _)| Statement::new(PARTS).bind(*segment).bind(limits.pages)).collect();
    let results = platform.db().read(batch).await?;
    choose(measured, &asked, &results, limits)
}

/// Takes as many victims as fit a segment; the rest is for the next step.
fn choose(
    mut measured: Measured,
    asked: &[(u64, &Row)],
    results: &[Rows],
    limits: &Limits,
) -> Result<Measured> {
    let (mut bytes, mut page_bytes, mut parts) = (0, 0, 0);
    let by_segment: HashMap<u64, &Row> = results
        .iter()
        .filter_map(|rows| rows.first())
        .map(|row| Ok((row.unsigned("segment")?, row)))
        .collect::<Result<_>>()?;
    for (segment, candidate) in asked {
        let Some(found) = by_segment.get(segment) else { continue };
        let text = found.integer_or_null("page_bytes")?.unwrap_or_default().unsigned_abs();
        let named: Vec<(u64, u64)> = manifest::from_json(found.text("parts")?)?;
        let checked: u64 = named.iter().map(|(_, length)| length).sum();
        let place = Place {
            bucket: candidate.text_or_null("bucket_name")?.map(str::to_owned),
            ..Place::from(candidate.text("key")?)
        };
        let bucket = candidate.integer_or_null("bucket")?;
        let victim = Victim { segment: *segment, place, bucket, live: union(named) };
        let live = victim.live_bytes();
        let dead = candidate.unsigned("size_bytes")?.saturating_sub(live);
        let is_worth_it = live > 0
            && dead >= live.max(limits.won_bytes)
            && found.unsigned("pages")? <= limits.pages
            && text <= MAX_PAGE_BYTES
            && victim.live.len() <= MAX_PARTS
            && live <= limits.packed_bytes
            && checked <= MAX_CHECKED_BYTES;
        if !is_worth_it {
            measured.settled.push(*segment);
            continue;
        }
        bytes += live;
        page_bytes += text;
        parts += victim.live.len();
        // What lies in one bucket stays in one.
        let is_elsewhere = measured.victims.last().is_some_and(|last: &Victim| last.bucket != bucket);
        if is_elsewhere || bytes > limits.packed_bytes || page_bytes > MAX_PAGE_BYTES || parts > MAX_PARTS {
            // Candidates up to the one before are decided; what was settled behind it, is settled all the same.
            measured.next = measured.victims.last().map(|victim: &Victim| victim.segment);
            break;
        }
        measured.victims.push(victim);
    }
    Ok(measured)
}

/// The ranges, in order, with those together that touch or overlap.
fn union(mut parts: Vec<(u64, u64)>) -> Vec<Range<u64>> {
    parts.sort_unstable();
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (start, length) in parts {
        let end = start.saturating_add(length);
        match ranges.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => ranges.push(start..end),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_or_overlap_are_one() {
        assert_eq!(union(vec![(10, 5), (0, 4), (4, 2), (12, 8), (30, 1), (10, 5)]), [0..6, 10..20, 30..31]);
        assert_eq!(union(Vec::new()), []);
    }
}
