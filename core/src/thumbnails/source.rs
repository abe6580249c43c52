//! The picture that a job makes thumbnails of.

use std::ops::Range;

use crate::blobs::{decode, keyed_page, keys, read_object};
use crate::error::{Error, Result};
use crate::jobs::Claimed;
use crate::manifest::{self, KeyedPage};
use crate::plan::{ReadPlan, Slice};
use crate::ports::{Db, Platform, Statement};

/// What one request to the bucket asks for.
const PIECE_BYTES: u64 = 8 << 20;

/// Content that can be read.
#[derive(Debug)]
pub struct Source {
    /// Its size.
    pub size_bytes: u64,
    pages: Vec<KeyedPage>,
    /// What lies behind the pages, and where it begins.
    rest: (u64, Vec<u8>),
    /// Where thumbnails go: into the bucket of a space that has the picture.
    pub(super) bucket: Option<i64>,
}

const ROW: &str = "select b.size_bytes, b.inline, b.tail, b.tail_bytes,
        (select s.bucket from versions v cross join nodes n on n.id = v.node_id cross join spaces s on s.id = n.space_id
          where v.blob_id = b.id limit 1) as bucket
   from thumbnails t cross join blobs b on b.id = t.blob_id
  where t.blob_id = ?1 and t.job_id = ?2";

const PAGES: &str = concat!(
    "select json_extract(e.value, '$[0]') as start, p.extents, ",
    keys!(),
    " from blobs b cross join json_each(b.pages) e cross join pages p on p.id = json_extract(e.value, '$[1]')
      where b.id = ?1 order by e.key"
);

/// Where the content is that this job is to make thumbnails of; None where they are made, or not wanted from this job any
/// more, or the blob has gone. One round trip.
pub async fn source<P: Platform>(platform: &P, job: &Claimed, blob: &str) -> Result<Option<Source>> {
    let row = Statement::new(ROW).bind(blob).bind(&job.id);
    let results = platform.db().read(vec![row, Statement::new(PAGES).bind(blob)]).await?;
    let mut results = results.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let (row, pages) = (rows(), rows());
    let Some(row) = row.first() else { return Ok(None) };
    let size_bytes = row.unsigned("size_bytes")?;
    let rest = match (row.text_or_null("inline")?, row.text_or_null("tail")?) {
        (Some(inline), _) => (0, decode(Some(inline))?),
        (None, tail) => (size_bytes.saturating_sub(row.unsigned("tail_bytes")?), decode(tail)?),
    };
    let pages = pages.iter().map(keyed_page).collect::<Result<_>>()?;
    Ok(Some(Source { size_bytes, pages, rest, bucket: row.integer_or_null("bucket")? }))
}

impl Source {
    /// Reads a range. A request to the bucket for each extent in it, or for each 8 MiB of one.
    pub async fn read<P: Platform>(&self, platform: &P, range: Range<u64>) -> Result<Vec<u8>> {
        let short = || Error::Internal("content is shorter than its size".to_owned());
        let length = range.end.saturating_sub(range.start);
        let mut bytes = Vec::with_capacity(usize::try_from(length).map_err(|_| short())?);
        for slice in self.plan(range)?.into_slices() {
            match slice {
                Slice::Inline(part) => bytes.extend(part),
                Slice::Zeros(count) => {
                    let count = usize::try_from(count).map_err(|_| short())?;
                    bytes.resize(bytes.len().saturating_add(count), 0);
                }
                Slice::Object { place, range } => {
                    let mut at = range.start;
                    while at < range.end {
                        let piece = at..range.end.min(at.saturating_add(PIECE_BYTES));
                        at = piece.end;
                        bytes.extend(read_object(platform, &place, piece).await?);
                    }
                }
            }
        }
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(short()) }
    }

    fn plan(&self, range: Range<u64>) -> Result<ReadPlan> {
        let (start, rest) = (self.rest.0, &self.rest.1);
        let mut plan = manifest::slices(&self.pages, range.start.min(start)..range.end.min(start))?;
        let within = |position: u64| usize::try_from(position.saturating_sub(start)).unwrap_or(usize::MAX);
        let part = rest.get(within(range.start)..within(range.end)).unwrap_or_default();
        plan.push(Slice::Inline(part.to_vec()));
        Ok(plan)
    }
}
