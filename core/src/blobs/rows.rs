//! Rows of what lies in the bucket: segments, chunks, pages.

use std::collections::HashSet;

use crate::error::Result;
use crate::ingest::{NewChunk, NewSegment};
use crate::manifest::{self, Extent};
use crate::ports::{Statement, Timestamp};

/// JSON texts of more than this are bound in several statements: a bound string ends at 2 MB.
const JSON_BYTES: usize = 1_000_000;

/// One statement for each piece of a JSON array that may be longer than a bound text can be.
pub(crate) fn for_each_piece<T: serde::Serialize>(
    rows: impl Iterator<Item = T>,
    statement: impl Fn(String) -> Statement,
) -> Result<Vec<Statement>> {
    let mut statements = Vec::new();
    let mut json = String::new();
    for row in rows {
        json.push(if json.is_empty() { '[' } else { ',' });
        json += &manifest::to_json(&row)?;
        if json.len() > JSON_BYTES {
            statements.push(statement(std::mem::take(&mut json) + "]"));
        }
    }
    if !json.is_empty() {
        statements.push(statement(json + "]"));
    }
    Ok(statements)
}

/// Segments that were put. Those that no page names are needed no more: an edit that was made twice, since others were
/// faster, has left them.
pub(crate) fn segments(
    segments: &[NewSegment],
    named: &HashSet<u64>,
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let state = |segment: &NewSegment| if named.contains(&segment.id) { "live" } else { "doomed" };
    let rows = segments
        .iter()
        .map(|segment| (segment.id, &segment.key, segment.size_bytes, state(segment), segment.bucket));
    for_each_piece(rows, |json| {
        Statement::new(
            "insert into segments (id, key, size_bytes, state, bucket, state_at)
             select json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
                    json_extract(value, '$[3]'), json_extract(value, '$[4]'), ?2
               from json_each(?1)",
        )
        .bind(json)
        .bind(now)
    })
}

/// Segments that nothing referred to any more are needed again.
pub(super) fn revive(reused: &[u64], now: Timestamp) -> Result<Statement> {
    Ok(Statement::new(
        "update segments set state = 'live', state_at = ?2
          where id in (select value from json_each(?1)) and state = 'doomed'",
    )
    .bind(manifest::to_json(&reused)?)
    .bind(now))
}

/// Another upload may have stored the same chunk meanwhile: then the index keeps that one, and both stay readable. One that
/// is on its way out gives way, or who sends a chunk anew, since it was gone, would find it gone again; so does one in another
/// bucket, which may be one that can't be reached.
pub(crate) fn chunks(
    chunks: &[NewChunk],
    space_key: i64,
    chunker: u32,
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let rows = chunks.iter().map(|chunk| (&chunk.hash, chunk.extent));
    for_each_piece(rows, |json| {
        Statement::new(
            "insert into chunks (space, hash, segment, offset, length, crc32, chunker, seen_at)
             select ?2, json_extract(value, '$[0]'), json_extract(value, '$[1][0]'),
                    json_extract(value, '$[1][1]'), json_extract(value, '$[1][2]'),
                    json_extract(value, '$[1][3]'), ?3, ?4
               from json_each(?1) where true
             on conflict (space, hash) do update
                set segment = excluded.segment, offset = excluded.offset, length = excluded.length,
                    crc32 = excluded.crc32, chunker = excluded.chunker, seen_at = excluded.seen_at
              where exists (select 1 from segments s cross join segments new
                             where s.id = chunks.segment and new.id = excluded.segment
                               and (s.state = 'deleting' or s.bucket is not new.bucket))",
        )
        .bind(json)
        .bind(space_key)
        .bind(i64::from(chunker))
        .bind(now)
    })
}

/// New pages, by their ids, and which segments they name.
pub(super) fn pages(pages: &[(u64, Vec<Extent>)]) -> Result<Vec<Statement>> {
    let rows: Vec<(u64, String)> = pages
        .iter()
        .map(|(page, extents)| Ok((*page, manifest::to_json(extents)?)))
        .collect::<Result<_>>()?;
    let mut statements = for_each_piece(rows.iter(), |json| {
        Statement::new(
            "insert into pages (id, extents)
             select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?1)",
        )
        .bind(json)
    })?;
    let references =
        pages.iter().flat_map(|(page, extents)| named(extents).into_iter().map(|segment| (segment, *page)));
    statements.extend(for_each_piece(references, |json| {
        Statement::new(
            "insert into page_segments (segment, page)
             select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?1)",
        )
        .bind(json)
    })?);
    Ok(statements)
}

/// The segments that extents name, each once.
pub(super) fn named(extents: &[Extent]) -> Vec<u64> {
    let mut segments: Vec<u64> =
        extents.iter().map(|extent| extent.segment).filter(|segment| *segment != manifest::HOLE).collect();
    segments.sort_unstable();
    segments.dedup();
    segments
}
