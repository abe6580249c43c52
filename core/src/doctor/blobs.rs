//! Content is as long as its blob says, and the checksums of its pieces make that of the whole.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::report::{Kind, Report};
use crate::error::Result;
use crate::imports::UNKNOWN_CRC32;
use crate::manifest::{PageRef, combine_crc32};
use crate::ports::{Db, DbError, Platform, Row, Statement};

/// Blobs that one read looks at. One of 8 TiB has 4,096 pages.
const BLOBS: i64 = 200;

/// Looks at some blobs; the last one, while there are more.
pub(super) async fn look<P: Platform>(
    platform: &P,
    after: &str,
    report: &mut Report,
) -> Result<Option<String>> {
    let some = Statement::new(
        "select b.id, b.size_bytes, b.crc32, b.inline, b.pages, b.tail, b.tail_bytes,
                (select json_group_array(json_array(p.id, (select sum(json_extract(x.value, '$[2]'))
                                                             from json_each(p.extents) x)))
                   from json_each(b.pages) e cross join pages p on p.id = json_extract(e.value, '$[1]')) as lengths
           from blobs b where b.id > ?1 order by b.id limit ?2",
    )
    .bind(after)
    .bind(BLOBS);
    let rows = platform.db().read(vec![some]).await?.into_iter().next().unwrap_or_default();
    for row in &rows {
        if let Some(why) = broken(row)? {
            report.add(Kind::BrokenBlob, format!("blob {}: {why}", row.text("id")?));
        }
    }
    report.blobs += rows.len() as u64;
    Ok(rows.last().map(|row| row.text("id").map(str::to_owned)).transpose()?)
}

fn broken(row: &Row) -> Result<Option<String>, DbError> {
    let (size_bytes, crc32) = (row.unsigned("size_bytes")?, row.integer("crc32")?);
    let of_text = |column| -> Result<Result<Vec<u8>, String>, DbError> {
        let text = row.text_or_null(column)?.unwrap_or_default();
        Ok(STANDARD.decode(text).map_err(|error| format!("{column} is no base64: {error}")))
    };
    let (inline, tail) = (of_text("inline")?, of_text("tail")?);
    let (end, tail_bytes) =
        (inline.and_then(|inline| tail.map(|tail| [inline, tail].concat())), row.unsigned("tail_bytes")?);
    let end = match end {
        Ok(end) => end,
        Err(why) => return Ok(Some(why)),
    };
    let (mut length, mut crc) = (0, 0);
    if let Some(pages) = row.text_or_null("pages")? {
        let unreadable = |error: serde_json::Error| DbError::Rejected(format!("pages of a blob: {error}"));
        let pages: Vec<PageRef> = serde_json::from_str(pages).map_err(unreadable)?;
        let lengths: Vec<(u64, u64)> = serde_json::from_str(row.text("lengths")?).map_err(unreadable)?;
        let lengths: HashMap<u64, u64> = lengths.into_iter().collect();
        for page in pages {
            let Some(of_page) = lengths.get(&page.page) else {
                return Ok(Some(format!("its page {} isn't there", page.page)));
            };
            if page.start != length {
                return Ok(Some(format!(
                    "its page {} begins at {}, and the one before ends at {length}",
                    page.page, page.start
                )));
            }
            crc = combine_crc32(crc, page.crc32, *of_page);
            length += of_page;
        }
        if end.len() as u64 != tail_bytes {
            return Ok(Some(format!("its tail has {} bytes, and the row says {tail_bytes}", end.len())));
        }
    }
    crc = combine_crc32(crc, crc32fast::hash(&end), end.len() as u64);
    length += end.len() as u64;
    if length != size_bytes {
        return Ok(Some(format!("its content has {length} bytes, and the row says {size_bytes}")));
    }
    let is_known = crc32 != UNKNOWN_CRC32;
    Ok((is_known && i64::from(crc) != crc32)
        .then(|| format!("its pieces have CRC-32 {crc}, and the row says {crc32}")))
}
