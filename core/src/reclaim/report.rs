//! What a sweep would give back: counts and bytes by kind. Changes nothing.

use crate::error::Result;
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};

/// Counting ends here: a report must not read a table.
const MOST: u64 = 10_000;

/// What is on its way out, or could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Uploads that never committed and have expired.
    ExpiredUploads,
    /// Segments that a sweep would doom: nothing refers to them.
    Unused,
    /// Segments that a sweep would measure, and repack where little of them is in use.
    Shrunk,
    /// Segments that nothing refers to, within their grace time.
    Doomed,
    /// Doomed segments whose grace time is over: a sweep would delete them.
    Due,
    /// Segments whose deletion has begun.
    Deleting,
    /// Objects that no row knew at the last full pass.
    Orphans,
}

impl Kind {
    /// The name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExpiredUploads => "expired_uploads",
            Self::Unused => "unused",
            Self::Shrunk => "shrunk",
            Self::Doomed => "doomed",
            Self::Due => "due",
            Self::Deleting => "deleting",
            Self::Orphans => "orphans",
        }
    }
}

/// How much there is of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The kind.
    pub kind: Kind,
    /// How many, at most 10,000.
    pub count: u64,
    /// Their bytes in the bucket; None where only a listing would tell.
    pub bytes: Option<u64>,
    /// Whether there are more than were counted.
    pub more: bool,
}

/// Segments by state: `?1` is the state, `?2` and `?3` say since when.
const BY_STATE: &str = "select count(*) as count, sum(size_bytes) as bytes from (
    select size_bytes from segments
     where state <> 'live' and state = ?1 and state_at > ?2 and state_at <= ?3 limit ?4)";

/// Reports. One round trip.
pub async fn report<P: Platform>(platform: &P) -> Result<Vec<Report>> {
    let now = platform.host().now();
    let over = super::delete::over(platform);
    let (never, forever) = (Timestamp(-1), Timestamp(1 << 53));
    let by_state = |state: &str, after: Timestamp, until: Timestamp| {
        Statement::new(BY_STATE).bind(state).bind(after).bind(until).bind(MOST + 1)
    };
    let candidates = |sql: &'static str| Statement::new(sql).bind(MOST + 1);
    let asked = [
        (
            Kind::ExpiredUploads,
            Statement::new(
                "select count(*) as count, null as bytes from (
                    select 1 from ingests where expires_at <= ?1 limit ?2)",
            )
            .bind(now)
            .bind(MOST + 1),
        ),
        (
            Kind::Unused,
            candidates(
                "select count(*) as count, sum(size_bytes) as bytes from (
                    select s.size_bytes from (select segment from candidates order by segment limit ?1) c
                     cross join segments s on s.id = c.segment
                     where s.state = 'live'
                       and not exists (select 1 from page_segments p where p.segment = c.segment))",
            ),
        ),
        (
            Kind::Shrunk,
            candidates(
                "select count(*) as count, sum(size_bytes) as bytes from (
                    select s.size_bytes from (select segment from repack_candidates order by segment limit ?1) c
                     cross join segments s on s.id = c.segment where s.state = 'live')",
            ),
        ),
        (Kind::Doomed, by_state("doomed", over, forever)),
        (Kind::Due, by_state("doomed", never, over)),
        (Kind::Deleting, by_state("deleting", never, forever)),
        (
            Kind::Orphans,
            Statement::new(
                "select count(*) as count, null as bytes from (
                    select 1 from orphans where seen_at >= 0 limit ?1)",
            )
            .bind(MOST + 1),
        ),
    ];
    let (kinds, batch): (Vec<Kind>, Vec<Statement>) = asked.into_iter().unzip();
    let results = platform.db().read(batch).await?;
    kinds.into_iter().zip(&results).filter_map(|(kind, rows)| Some((kind, rows.first()?))).map(read).collect()
}

fn read((kind, row): (Kind, &Row)) -> Result<Report> {
    let counted = row.unsigned("count")?;
    let has_bytes = !matches!(kind, Kind::ExpiredUploads | Kind::Orphans);
    let bytes = row.integer_or_null("bytes")?.map_or(0, |bytes| u64::try_from(bytes).unwrap_or_default());
    Ok(Report { kind, count: counted.min(MOST), bytes: has_bytes.then_some(bytes), more: counted > MOST })
}
