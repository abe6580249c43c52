//! Reads the living parts, checks them, and works out where they will be.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::Victim;
use crate::error::Result;
use crate::manifest::{self, Extent, HOLE};
use crate::ports::{Bucket, BucketError, Db, Platform, Statement};

/// A new segment, and what changes with it.
pub(super) struct New {
    /// Its content.
    pub(super) bytes: Vec<u8>,
    /// The row of the bucket that it goes into, where the others are.
    pub(super) bucket: Option<i64>,
    /// The segments that it replaces.
    pub(super) victims: Vec<u64>,
    /// What moves where.
    pub(super) moves: Vec<Move>,
    /// The pages that name them.
    pub(super) pages: Vec<Page>,
}

/// A part of an old segment that is in the new one.
#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(into = "(u64, u64, u64, i64)")]
pub(super) struct Move {
    segment: u64,
    start: u64,
    end: u64,
    shift: i64,
}

impl From<Move> for (u64, u64, u64, i64) {
    fn from(Move { segment, start, end, shift }: Move) -> Self {
        (segment, start, end, shift)
    }
}

/// A page, before.
pub(super) struct Page {
    /// Its id.
    pub(super) id: u64,
    /// Its text as it was read: it is changed only where it still is.
    pub(super) before: String,
    /// What it consists of.
    extents: Vec<Extent>,
}

impl Page {
    /// What it consists of when the parts have moved to the segment `to`.
    pub(super) fn after(&self, moves: &[Move], to: u64) -> Vec<Extent> {
        self.extents.iter().map(|extent| moved(extent, moves, to).unwrap_or(*extent)).collect()
    }

    /// Which of the victims it names.
    pub(super) fn named<'a>(&'a self, victims: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let named: BTreeSet<u64> = self.extents.iter().map(|extent| extent.segment).collect();
        named.into_iter().filter(|segment| victims.contains(segment))
    }
}

/// What came of it.
pub(super) enum Packed {
    /// All of it.
    Whole(New),
    /// Pages aren't what was measured.
    Changed,
    /// This segment's object isn't what its extents say.
    Damaged(u64),
}

fn moved(extent: &Extent, moves: &[Move], to: u64) -> Option<Extent> {
    let part = part_of(extent, moves)?;
    Some(Extent { segment: to, offset: extent.offset.checked_add_signed(part.shift)?, ..*extent })
}

fn part_of(extent: &Extent, moves: &[Move]) -> Option<Move> {
    let end = extent.offset.checked_add(extent.length)?;
    let holds =
        |part: &&Move| part.segment == extent.segment && part.start <= extent.offset && end <= part.end;
    moves.iter().find(holds).copied()
}

/// One round trip, and a bucket operation for each victim.
pub(super) async fn pack<P: Platform>(platform: &P, victims: &[Victim]) -> Result<Packed> {
    let ids: Vec<u64> = victims.iter().map(|victim| victim.segment).collect();
    let pages = pages(platform, &ids).await?;
    let bucket = victims.first().and_then(|victim| victim.bucket);
    let mut new = New { bytes: Vec::new(), bucket, victims: ids, moves: Vec::new(), pages };
    let mut wanted: BTreeMap<u64, BTreeSet<(u64, u64, u32)>> = BTreeMap::new();
    for extent in new.pages.iter().flat_map(|page| &page.extents) {
        if extent.segment != HOLE && new.victims.contains(&extent.segment) {
            let parts = wanted.entry(extent.segment).or_default();
            parts.insert((extent.offset, extent.length, extent.crc32));
        }
    }
    for victim in victims {
        let (Some(first), Some(last)) = (victim.live.first(), victim.live.last()) else { continue };
        let bucket = platform.bucket_of(victim.place.bucket.as_deref())?;
        let read = match bucket.get(&victim.place.key, first.start..last.end).await {
            Ok(read) => read,
            Err(BucketError::NotFound(_) | BucketError::OutOfRange(_)) => {
                return Ok(Packed::Damaged(victim.segment));
            }
            Err(error) => return Err(error.into()),
        };
        let part = |start: u64, end: u64| {
            let at = |position: u64| usize::try_from(position.checked_sub(first.start)?).ok();
            read.get(at(start)?..at(end)?)
        };
        for range in &victim.live {
            let Some(bytes) = part(range.start, range.end) else {
                return Ok(Packed::Damaged(victim.segment));
            };
            let shift =
                i64::try_from(new.bytes.len()).unwrap_or_default().saturating_sub_unsigned(range.start);
            new.moves.push(Move { segment: victim.segment, start: range.start, end: range.end, shift });
            new.bytes.extend_from_slice(bytes);
        }
        for (offset, length, crc32) in wanted.remove(&victim.segment).unwrap_or_default() {
            let extent = Extent { segment: victim.segment, offset, length, crc32 };
            if part_of(&extent, &new.moves).is_none() {
                return Ok(Packed::Changed);
            }
            if part(offset, offset + length).map(crc32fast::hash) != Some(crc32) {
                return Ok(Packed::Damaged(victim.segment));
            }
        }
    }
    Ok(Packed::Whole(new))
}

async fn pages<P: Platform>(platform: &P, victims: &[u64]) -> Result<Vec<Page>> {
    let look = Statement::new(
        "select p.id, p.extents
           from (select distinct s.page from json_each(?1) v cross join page_segments s on s.segment = v.value) named
          cross join pages p on p.id = named.page",
    )
    .bind(manifest::to_json(&victims)?);
    let rows = platform.db().read(vec![look]).await?.pop().unwrap_or_default();
    rows.iter()
        .map(|row| {
            let before = row.text("extents")?.to_owned();
            Ok(Page { id: row.unsigned("id")?, extents: manifest::from_json(&before)?, before })
        })
        .collect()
}
