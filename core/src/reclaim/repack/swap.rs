//! The one batch that changes pages to where their bytes are now.

use super::pack::New;
use crate::error::Result;
use crate::files::for_each_piece;
use crate::ingest::Ingest;
use crate::manifest;
use crate::ports::{Statement, Timestamp};

/// Refuses where the new segment may be gone, or an old one isn't live.
const GUARD: &str = "insert into guard (why) select why from (select case
       when not exists (select 1 from ingests where id = ?1 and expires_at > ?2) then 'ingest_gone'
       when (select count(*) from json_each(?3) v cross join segments s on s.id = v.value where s.state = 'live')
            <> json_array_length(?3) then 'pages_changed'
     end as why) where why is not null";

/// Refuses where a page isn't what it was.
const UNCHANGED: &str = "insert into guard (why) select 'pages_changed' where (
        select count(*) from json_each(?1) e cross join pages p on p.id = json_extract(e.value, '$[0]')
         where p.extents = json_extract(e.value, '$[1]')) <> json_array_length(?1)";

const CHANGE: &str = "update pages set extents = json_extract(r.value, '$[1]')
   from json_each(?1) r where pages.id = json_extract(r.value, '$[0]')";

const LEAVE: &str = "delete from page_segments where (segment, page) in (
        select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?1))";

const JOIN: &str = "insert into page_segments (segment, page) select ?2, value from json_each(?1)";

/// Chunks that lie in a part as a whole go along with it.
const CHUNKS: &str = "update chunks set segment = ?2, offset = chunks.offset + json_extract(r.value, '$[3]')
   from json_each(?1) r
  where chunks.segment = json_extract(r.value, '$[0]') and chunks.offset >= json_extract(r.value, '$[1]')
    and chunks.offset + chunks.length <= json_extract(r.value, '$[2]')";

const DOOM: &str = "update segments set state = 'doomed', state_at = ?2
  where id in (select value from json_each(?1)) and state = 'live'
    and not exists (select 1 from page_segments p where p.segment = segments.id)";

const FORGET: &str = "delete from repack_candidates where segment in (select value from json_each(?1))";

/// The batch.
pub(super) fn statements(new: &New, ingest: &Ingest, now: Timestamp) -> Result<Vec<Statement>> {
    let segment = ingest.nth_id(0);
    let victims = manifest::to_json(&new.victims)?;
    let each = |sql: &'static str| move |json: String| Statement::new(sql).bind(json);
    let mut batch = vec![Statement::new(GUARD).bind(ingest.id).bind(now).bind(victims.as_str())];
    batch.extend(for_each_piece(new.pages.iter().map(|page| (page.id, &page.before)), each(UNCHANGED))?);
    let insert = "insert into segments (id, key, size_bytes, state_at, bucket) values (?1, ?2, ?3, ?4, ?5)";
    batch.push(
        Statement::new(insert)
            .bind(segment)
            .bind(ingest.segment_key(0))
            .bind(new.bytes.len() as u64)
            .bind(now)
            .bind(new.bucket),
    );
    let after = new
        .pages
        .iter()
        .map(|page| Ok((page.id, manifest::to_json(&page.after(&new.moves, segment))?)))
        .collect::<Result<Vec<_>>>()?;
    batch.extend(for_each_piece(after.iter(), each(CHANGE))?);
    let left =
        new.pages.iter().flat_map(|page| page.named(&new.victims).map(move |segment| (segment, page.id)));
    batch.extend(for_each_piece(left, each(LEAVE))?);
    let join = |json: String| Statement::new(JOIN).bind(json).bind(segment);
    batch.extend(for_each_piece(new.pages.iter().map(|page| page.id), join)?);
    batch.push(Statement::new(CHUNKS).bind(manifest::to_json(&new.moves)?).bind(segment));
    batch.push(Statement::new(DOOM).bind(victims.as_str()).bind(now));
    batch.push(Statement::new(FORGET).bind(victims));
    batch.push(ingest.close());
    Ok(batch)
}
