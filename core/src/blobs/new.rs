//! Content that is to have a row: what it is, what of it is new, and the statements that make the rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use base64::{Engine, engine::general_purpose::STANDARD};

use super::rows;
use crate::chunk::CHUNKER;
use crate::error::{Error, Result};
use crate::ids::BlobId;
use crate::ingest::{Content, Ingest, NewChunk, NewSegment, Received, Store};
use crate::manifest::{self, Extent, KeyedPage, PageRef};
use crate::plan::{Place, ReadPlan};
use crate::ports::{Platform, Statement, Timestamp};

/// A blob that has no row yet.
#[derive(Debug)]
pub(crate) struct NewBlob {
    /// Its size.
    pub(crate) size_bytes: u64,
    /// Its entity tag, without quotes.
    pub(crate) etag: String,
    /// The CRC-32 of the whole.
    pub(crate) crc32: u32,
    /// Verified digests of the whole, base64 by algorithm.
    pub(crate) digests: BTreeMap<String, String>,
    /// Where its bytes are.
    pub(crate) layout: Layout,
    /// What has to be made known with it.
    pub(crate) stored: Stored,
    /// Pages of blobs that may go meanwhile: the commit is refused (`target_changed`) where one has.
    pub(crate) kept: Vec<u64>,
    /// The ingest that owns what was stored; it goes with the commit.
    pub(crate) ingest: Option<Ingest>,
}

/// Where a blob's bytes are.
#[derive(Debug)]
pub(crate) enum Layout {
    /// All in the row.
    Inline(Vec<u8>),
    /// In pages, then in the row.
    Paged {
        /// The list of pages, new ones and old ones.
        pages: Vec<PageRef>,
        /// What follows them.
        tail: Vec<u8>,
    },
}

/// What is in the bucket and has no row yet, and what refers to it.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Segments that were put.
    pub(crate) segments: Vec<NewSegment>,
    /// Chunks that were not known.
    pub(crate) chunks: Vec<NewChunk>,
    /// Pages that are new, by their ids.
    pub(crate) pages: Vec<(u64, Vec<Extent>)>,
}

/// What else a blob's row says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlobRow<'a> {
    /// Its id.
    pub(crate) id: &'a BlobId,
    /// Its media type.
    pub(crate) media_type: &'a str,
    /// The integer key of the space whose chunks it has.
    pub(crate) space_key: i64,
    /// The time of the commit.
    pub(crate) now: Timestamp,
}

impl NewBlob {
    /// A body as it was received, with the ingest that it came through.
    pub(crate) fn received(received: Received, ingest: Option<&Ingest>) -> Result<Self> {
        let Received { size_bytes, etag, crc32, digests, content } = received;
        let mut stored = Stored::default();
        let layout = match content {
            Content::Inline(bytes) => Layout::Inline(bytes),
            Content::Stored { extents, segments, chunks } => {
                let ingest =
                    ingest.ok_or_else(|| Error::Internal("segments without an ingest".to_owned()))?;
                let mut n = 0;
                let paged = extents.paginate(|| {
                    n += 1;
                    ingest.nth_id(n - 1)
                });
                let pages = paged.iter().map(|(page, _)| *page).collect();
                let new = paged.iter().map(|(page, extents)| (page.page, extents.to_vec())).collect();
                stored = Stored { segments, chunks, pages: new };
                Layout::Paged { pages, tail: Vec::new() }
            }
        };
        Ok(Self {
            size_bytes,
            etag,
            crc32,
            digests,
            layout,
            stored,
            kept: Vec::new(),
            ingest: ingest.cloned(),
        })
    }

    /// Nothing.
    pub(crate) fn empty() -> Self {
        let Received { size_bytes, etag, crc32, digests, .. } = Received::nothing();
        let (layout, stored) = (Layout::Inline(Vec::new()), Stored::default());
        Self { size_bytes, etag, crc32, digests, layout, stored, kept: Vec::new(), ingest: None }
    }

    /// Nothing yet, with what a store has put, used or not, and these new pages.
    pub(super) fn of<P: Platform>(store: &Store<'_, P>, pages: Vec<(u64, Vec<Extent>)>) -> Self {
        let (segments, chunks) = store.stored();
        let stored = Stored { segments: segments.to_vec(), chunks: chunks.to_vec(), pages };
        Self { stored, ingest: store.opened().cloned(), ..Self::empty() }
    }

    /// Plans a range that lies in new pages, or in what is in the row; `keys` says where its segments are.
    pub(crate) fn plan(&self, range: Range<u64>, keys: &HashMap<u64, Place>) -> Result<ReadPlan> {
        let Layout::Paged { pages, .. } = &self.layout else {
            return Err(Error::Internal("content in a row isn't read back".to_owned()));
        };
        let new: HashMap<u64, &Vec<Extent>> =
            self.stored.pages.iter().map(|(id, extents)| (*id, extents)).collect();
        let keyed = |page: &PageRef| {
            let extents = (*new.get(&page.page)?).clone();
            Some(KeyedPage { start: page.start, extents, keys: keys.clone() })
        };
        manifest::slices(&pages.iter().filter_map(keyed).collect::<Vec<_>>(), range)
    }

    /// Refuses the commit (`ingest_gone`, `segments_gone`, `target_changed`) where the bytes may be on their way out. None where there
    /// is nothing to ask.
    pub(crate) fn guard(&self, now: Timestamp) -> Result<Option<Statement>> {
        let reused = self.reused();
        let kept: BTreeSet<u64> = self.kept.iter().copied().collect();
        if self.ingest.is_none() && reused.is_empty() && self.kept.is_empty() {
            return Ok(None);
        }
        Ok(Some(
            Statement::new(
                "insert into guard (why) select why from (select case
                   when ?1 is not null
                     and not exists (select 1 from ingests where id = ?1 and expires_at > ?2) then 'ingest_gone'
                   when (select count(*) from json_each(?3) r cross join segments s on s.id = r.value
                          where s.state <> 'deleting') <> json_array_length(?3) then 'segments_gone'
                   when (select count(*) from json_each(?4) r cross join pages p on p.id = r.value)
                        <> json_array_length(?4) then 'target_changed'
                 end as why) where why is not null",
            )
            .bind(self.ingest.as_ref().map(|ingest| ingest.id))
            .bind(now)
            .bind(manifest::to_json(&reused)?)
            .bind(manifest::to_json(&kept)?),
        ))
    }

    /// Makes the rows, and removes the ingest's. The pages that the blob shares must be there: whoever commits guards
    /// what they were read from.
    pub(crate) fn rows(&self, row: &BlobRow<'_>) -> Result<Vec<Statement>> {
        let Stored { segments, chunks, pages } = &self.stored;
        let named: HashSet<u64> = pages.iter().flat_map(|(_, extents)| rows::named(extents)).collect();
        let mut statements = rows::segments(segments, &named, row.now)?;
        let reused = self.reused();
        if !reused.is_empty() {
            statements.push(rows::revive(&reused, row.now)?);
        }
        statements.extend(rows::chunks(chunks, row.space_key, CHUNKER, row.now)?);
        statements.extend(rows::pages(pages)?);
        statements.push(self.blob(row)?);
        statements.extend(self.ingest.as_ref().map(Ingest::close));
        Ok(statements)
    }

    /// Older segments that new pages refer to.
    fn reused(&self) -> Vec<u64> {
        let new: HashSet<u64> = self.stored.segments.iter().map(|segment| segment.id).collect();
        let named: BTreeSet<u64> =
            self.stored.pages.iter().flat_map(|(_, extents)| rows::named(extents)).collect();
        named.into_iter().filter(|segment| !new.contains(segment)).collect()
    }

    fn blob(&self, row: &BlobRow<'_>) -> Result<Statement> {
        let (inline, pages, tail) = match &self.layout {
            Layout::Inline(bytes) => (Some(STANDARD.encode(bytes)), None, &[][..]),
            Layout::Paged { pages, tail } => (None, Some(manifest::to_json(pages)?), tail.as_slice()),
        };
        let digests = (!self.digests.is_empty()).then(|| manifest::to_json(&self.digests)).transpose()?;
        Ok(Statement::new(
            "insert into blobs (id, size_bytes, etag, media_type, crc32, inline, pages, digests, tail_bytes, tail)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )
        .bind(row.id)
        .bind(self.size_bytes)
        .bind(self.etag.as_str())
        .bind(row.media_type)
        .bind(i64::from(self.crc32))
        .bind(inline)
        .bind(pages)
        .bind(digests)
        .bind(tail.len() as u64)
        .bind((!tail.is_empty()).then(|| STANDARD.encode(tail))))
    }
}
