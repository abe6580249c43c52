//! An archive that is being read.

use std::collections::HashMap;
use std::ops::Range;

use super::layout::{Content, Layout, Piece};
use super::read;
use crate::blobs::{decode, keyed_page, keys, tail_of};
use crate::error::{Conflict, Error, Result};
use crate::files::Stored;
use crate::manifest;
use crate::plan::{ReadPlan, Slice};
use crate::ports::{Db, Host, Platform, Row, Statement};
use crate::tree::Address;

/// The most addresses at once: each costs two statements.
pub const MAX_SOURCES: usize = 100;

/// The most entries: what is known of each stays in memory while it is laid out.
pub const MAX_ENTRIES: usize = 100_000;

/// The most bytes that aren't in the bucket: headers, and small content. They are in memory until they are sent.
const MAX_MADE_BYTES: u64 = 32 * 1024 * 1024;

/// So many contents are looked up by one statement at most,
const BLOBS: usize = 1000;
/// and so many bytes of content, unless it is one: each MiB is about an extent, and an answer should stay below a MB.
const BLOB_BYTES: u64 = 20 << 30;
/// So many statements are a round trip.
const STATEMENTS: usize = 5;

/// How often the tree may change while it is read.
pub(super) const TRIES: usize = 3;

/// A ZIP file.
#[derive(Debug)]
pub struct Archive {
    /// A strong entity tag.
    pub etag: String,
    /// How long it is.
    pub size_bytes: u64,
    pub(super) layout: Layout,
}

/// What is to be in an archive.
#[derive(Debug, Clone, Copy)]
pub enum Sources<'a> {
    /// A folder, which is the only thing at the top, or a space's top folder, whose members are.
    Folder(&'a Address),
    /// Files and folders of one space, each at the top; [`MAX_SOURCES`] at most.
    Each(&'a [Address]),
}

/// Lays it out. A round trip for each 5,000 nodes of each folder, and for a list one more.
///
/// # Errors
/// [`Conflict::NotAFolder`]; [`Conflict::Contended`] where the space keeps changing; [`Error::TooManyEntries`].
pub async fn open<P: Platform>(platform: &P, sources: Sources<'_>) -> Result<Archive> {
    for _ in 0..TRIES {
        if let Some(nodes) = read::read(platform, sources).await? {
            let layout = Layout::new(nodes);
            return Ok(Archive { etag: layout.etag(), size_bytes: layout.len(), layout });
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

impl Archive {
    /// Plans a range of the file. A round trip for each 5,000 files that it touches, or 100 GiB.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`] where it takes more reads than the host can make for one answer, or more memory;
    /// [`Conflict::Contended`] where content has gone since it was laid out.
    pub async fn plan<P: Platform>(&self, platform: &P, range: Range<u64>) -> Result<ReadPlan> {
        let pieces = self.layout.pieces(&range);
        let wanted: Vec<&Content> = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Of(node, _) => self.layout.content(*node),
                Piece::Made(_) => None,
            })
            .collect();
        let stored = find(platform, &wanted).await?;
        let mut contents = stored.into_iter();
        let (mut plan, mut made_bytes) = (ReadPlan::default(), 0);
        for piece in pieces {
            let slices = match piece {
                Piece::Made(bytes) => vec![Slice::Inline(bytes)],
                Piece::Of(_, range) => {
                    let content = contents.next().flatten().ok_or(Error::Conflict(Conflict::Contended))?;
                    content.plan(range)?.into_slices()
                }
            };
            for slice in slices {
                made_bytes += if matches!(slice, Slice::Inline(_)) { slice.len() } else { 0 };
                plan.push(slice);
            }
            let most = platform.host().most_reads();
            if plan.bucket_reads() > most {
                return Err(too_many(format!(
                    "this host makes at most {most} reads from the bucket for one answer"
                )));
            }
            if made_bytes > MAX_MADE_BYTES {
                return Err(too_many(format!(
                    "more than {MAX_MADE_BYTES} bytes of it are small files and names"
                )));
            }
        }
        Ok(plan)
    }
}

fn too_many(reason: String) -> Error {
    Error::TooManyEntries {
        reason: format!(
            "{reason}: ask for parts of it, by ranges, or keep it as a file and read that by ranges"
        ),
    }
}

/// Where the content of each blob is, in the same order; None where it is gone.
pub(super) async fn find<P: Platform>(platform: &P, contents: &[&Content]) -> Result<Vec<Option<Stored>>> {
    let mut found: Vec<Option<Stored>> = Vec::with_capacity(contents.len());
    let mut bytes = 0;
    let asked: Vec<&[&Content]> = contents
        .chunk_by(|before, _| {
            bytes += before.size_bytes;
            let goes_on = bytes < BLOB_BYTES;
            bytes = if goes_on { bytes } else { 0 };
            goes_on
        })
        .flat_map(|some| some.chunks(BLOBS))
        .collect();
    let statements = asked.iter().map(|some| statement(some)).collect::<Result<Vec<_>>>()?;
    let mut asked = asked.into_iter();
    for batch in statements.chunks(STATEMENTS) {
        for rows in platform.db().read(batch.to_vec()).await? {
            let mut some: HashMap<u64, Stored> = HashMap::new();
            for row in &rows {
                add(&mut some, row)?;
            }
            let count = asked.next().unwrap_or_default().len() as u64;
            found.extend((0..count).map(|place| some.remove(&place)));
        }
    }
    Ok(found)
}

fn statement(contents: &[&Content]) -> Result<Statement> {
    let blobs: Vec<&str> = contents.iter().map(|content| content.blob.as_str()).collect();
    let sql = concat!(
        "select e.key as place, b.size_bytes, b.tail_bytes, b.inline,
                      case when r.key = 0 or r.key is null then b.tail end as tail,
                      json_extract(r.value, '$[0]') as start, p.extents,
                      ",
        keys!(),
        "
                 from json_each(?1) e cross join blobs b on b.id = e.value
                 left join json_each(b.pages) r left join pages p on p.id = json_extract(r.value, '$[1]')
                order by e.key, r.key"
    );
    Ok(Statement::new(sql).bind(manifest::to_json(&blobs)?))
}

fn add(found: &mut HashMap<u64, Stored>, row: &Row) -> Result<()> {
    let stored = found.entry(row.unsigned("place")?).or_default();
    if let Some(inline) = row.text_or_null("inline")? {
        stored.rest = Some((0, decode(Some(inline))?));
    } else if row.text_or_null("tail")?.is_some() {
        let start = row.unsigned("size_bytes")?.saturating_sub(row.unsigned("tail_bytes")?);
        stored.rest = Some((start, tail_of(row)?));
    }
    if row.text_or_null("extents")?.is_some() {
        stored.pages.push(keyed_page(row)?);
    }
    Ok(())
}
