//! A blob that is to be edited, as far as the edit has to know it: its list of pages, its tail, and the pages and chunks
//! around the place.

use std::collections::HashMap;
use std::ops::Range;

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{Layout, NewBlob, TAIL_BYTES};
use crate::error::{Error, Result};
use crate::ids::{AccountId, VersionId};
use crate::ingest::{Old, inline_etag};
use crate::manifest::edit::Manifest;
use crate::manifest::{self, Extent, KeyedPage, PageRef, Parts, combine_crc32};
use crate::plan::{Place, ReadPlan, Slice};
use crate::ports::{Bucket, BucketError, Platform, Row, Rows, Statement, Timestamp};
use crate::tree::{Address, walk};

/// A blob, for an edit.
#[derive(Debug)]
pub(crate) struct Base {
    /// Its size.
    pub(crate) size_bytes: u64,
    /// Its entity tag, without quotes.
    pub(crate) etag: String,
    /// Its id, where it was imported and has no checksum yet: nothing may be made of it before it has.
    pub(crate) unhashed: Option<String>,
    pub(super) pages: Vec<PageRef>,
    /// What lies behind the pages; all of it, where it is inline.
    pub(super) tail: Vec<u8>,
    /// Extents by page id, of the pages around the place.
    pub(super) loaded: HashMap<u64, Vec<Extent>>,
    keyed: Vec<KeyedPage>,
    /// Rows of the chunk index around the place.
    pub(super) chunks: Parts,
    /// What appending to its version has to know.
    pub(crate) appended: Option<AppendedTo>,
}

/// A version that appends go on in, as long as the space's policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppendedTo {
    /// When the first of them was.
    pub(crate) since: Timestamp,
    /// Until when others go on in it.
    pub(crate) until: Timestamp,
    /// Who made it.
    pub(crate) author: String,
}

/// Where an edit begins and ends in the old content, as far as that is known before it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// The first byte; None: the end.
    pub(crate) start: Option<u64>,
    /// How many bytes come, where that is known.
    pub(crate) length: Option<u64>,
}

/// How many statements [`at`] has.
pub(crate) const STATEMENTS: usize = 3;

/// `base`: the blob of the version ?4, or of the current one, of the file at the end of the walk. What is inline counts as a
/// tail without pages.
macro_rules! base {
    () => {
        concat!(
            walk!(),
            ", base (id, size_bytes, etag, crc32, inline, pages, paged, tail_bytes, tail, version) as (
                select b.id, b.size_bytes, b.etag, b.crc32, b.inline, b.pages,
                       case when b.pages is null then 0 else b.size_bytes - b.tail_bytes end,
                       case when b.pages is null then b.size_bytes else b.tail_bytes end, b.tail, v.id
                  from walk w cross join nodes n on n.id = w.id
                 cross join versions v on v.id = coalesce(?4, n.version_id) and v.node_id = n.id
                 cross join blobs b on b.id = v.blob_id
                 where w.depth = ?3) "
        )
    };
}

/// The blob's row, and what its version says of appending to it.
macro_rules! row {
    () => {
        concat!(
            base!(),
            "select case when t.crc32 < 0 then t.id end as unhashed, t.size_bytes, t.etag, t.inline, t.pages, t.tail,
                    v.appended_since, v.author_id, v.label is not null as is_labelled, s.append_window_secs
               from base t left join versions v on v.id = t.version left join nodes n on n.id = v.node_id
               left join spaces s on s.id = n.space_id"
        )
    };
}

/// `near(place, start, page)`: the pages that an edit needs which begins at ?5 and ends at ?6, where null is the end of
/// them all: those that [`pages_to_splice`](manifest::edit::pages_to_splice) names, and a few more. None where ?7 more
/// bytes leave no more than ?8 in the tail.
macro_rules! near {
    () => {
        concat!(
            base!(),
            ", edge (first, last, lowest, middle, beyond) as materialized (
                select at.first, at.last,
                       (select count(*) from json_each(at.pages) x
                         where json_extract(x.value, '$[0]') <= max(at.first - 2, 0)) - 2,
                       (select count(*) from json_each(at.pages) x
                         where json_extract(x.value, '$[0]') <= at.first) - 1,
                       (select count(*) from json_each(at.pages) x
                         where json_extract(x.value, '$[0]') <= at.last) - 1
                  from (select t.pages, coalesce(min(?5, t.paged), t.paged) as first,
                               coalesce(min(?6, t.paged), t.paged) as last
                          from base t
                         where ?7 is null or ?5 < t.paged
                            or max(coalesce(?5, 0) - t.paged, t.tail_bytes) + ?7 > ?8) at
            ),
            near (place, start, page) as (
                select e.key, json_extract(e.value, '$[0]'), json_extract(e.value, '$[1]')
                  from edge cross join base t cross join json_each(t.pages) e
                 where e.key between edge.lowest and edge.middle or e.key between edge.beyond and edge.beyond + 2
            ) "
        )
    };
}

/// Where the segments are that the page `p` names, for [`keyed_page`].
macro_rules! keys {
    () => {
        "(select json_group_array(json_array(s.id, s.key, (select name from buckets where n = s.bucket), s.source_etag))
            from (select distinct json_extract(x.value, '$[0]') as id from json_each(p.extents) x) named
           cross join segments s on s.id = named.id) as keys"
    };
}
pub(crate) use keys;

macro_rules! pages {
    () => {
        concat!(
            near!(),
            "select near.start, near.page, p.extents,
                    ",
            keys!(),
            "
               from near cross join pages p on p.id = near.page
              order by near.place"
        )
    };
}

/// Chunks: around the first byte, and behind the last as far as re-chunking may go, five of the largest.
macro_rules! chunks {
    () => {
        concat!(
            near!(),
            ", ext (segment, offset, length, stop) as (
                select json_extract(x.value, '$[0]'), json_extract(x.value, '$[1]'), json_extract(x.value, '$[2]'),
                       near.start + sum(json_extract(x.value, '$[2]'))
                         over (partition by near.place order by x.key rows unbounded preceding)
                  from near cross join pages p on p.id = near.page cross join json_each(p.extents) x
            )
            select distinct c.segment, c.offset, c.length, c.crc32
              from edge cross join ext cross join chunks c on c.segment = ext.segment
             where (ext.stop >= edge.first - 2 and ext.stop - ext.length <= edge.first
                 or ext.stop > edge.last and ext.stop - ext.length <= edge.last + 20971520)
               and c.offset >= ext.offset and c.offset + c.length <= ext.offset + ext.length"
        )
    };
}

/// Asks for the blob of the file at an address, of its current version or of another.
pub(crate) fn at(address: &Address, version: Option<&VersionId>, reach: &Reach) -> [Statement; STATEMENTS] {
    let place = |sql| {
        let depth = address.path.depth() as u64;
        Statement::new(sql).bind(&address.space).bind(address.way()).bind(depth).bind(version)
    };
    [place(row!()), reach.bind(place(pages!())), reach.bind(place(chunks!()))]
}

impl Reach {
    /// The end, for so many more bytes.
    pub(crate) fn end(length: Option<u64>) -> Self {
        Self { start: None, length }
    }

    /// Both ends, to put it between others.
    pub(crate) fn ends() -> Self {
        Self { start: Some(0), length: None }
    }

    fn bind(&self, statement: Statement) -> Statement {
        let end = self.start.zip(self.length).map(|(start, length)| start.saturating_add(length));
        statement.bind(self.start).bind(end).bind(self.length).bind(TAIL_BYTES as u64)
    }
}

impl Base {
    /// Nothing: what a file that isn't there yet has.
    pub(crate) fn empty() -> Self {
        Self {
            size_bytes: 0,
            etag: inline_etag(&[]),
            unhashed: None,
            pages: Vec::new(),
            tail: Vec::new(),
            loaded: HashMap::new(),
            keyed: Vec::new(),
            chunks: Parts::default(),
            appended: None,
        }
    }

    /// Reads the answers to [`at`]; None where there is no such blob.
    pub(crate) fn read(results: &[Rows]) -> Result<Option<Self>> {
        let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
        let Some(row) = rows(0).first() else { return Ok(None) };
        let mut base = Self {
            size_bytes: row.unsigned("size_bytes")?,
            etag: row.text("etag")?.to_owned(),
            unhashed: row.text_or_null("unhashed")?.map(str::to_owned),
            pages: row.text_or_null("pages")?.map(manifest::from_json).transpose()?.unwrap_or_default(),
            tail: match row.text_or_null("inline")? {
                None => tail_of(row)?,
                inline => decode(inline)?,
            },
            appended: appended_to(row)?,
            ..Self::empty()
        };
        for row in rows(1) {
            let page = keyed_page(row)?;
            base.loaded.insert(row.unsigned("page")?, page.extents.clone());
            base.keyed.push(page);
        }
        for row in rows(2) {
            base.chunks.add(Extent {
                segment: row.unsigned("segment")?,
                offset: row.unsigned("offset")?,
                length: row.unsigned("length")?,
                crc32: crc32(row)?,
            });
        }
        Ok(Some(base))
    }

    /// The blob, unless a job has to hash it first.
    pub(crate) async fn hashed<P: Platform>(
        self,
        platform: &P,
        address: &Address,
        account: &AccountId,
    ) -> Result<Self> {
        match &self.unhashed {
            None => Ok(self),
            Some(blob) => {
                let by = (&address.token, account, &address.space);
                Err(crate::imports::hash::want(platform, by, &[blob]).await)
            }
        }
    }

    /// Reads a row with the columns of `blobs`, and `loaded`, the extents of the pages at its ends. Not for blobs that have a
    /// tail.
    pub(crate) fn of_row(row: &Row) -> Result<Self> {
        let loaded: Vec<(u64, Vec<Extent>)> = manifest::from_json(row.text("loaded")?)?;
        Ok(Self {
            size_bytes: row.unsigned("size_bytes")?,
            etag: row.text("etag")?.to_owned(),
            pages: row.text_or_null("pages")?.map(manifest::from_json).transpose()?.unwrap_or_default(),
            tail: decode(row.text_or_null("inline")?)?,
            loaded: HashMap::from_iter(loaded),
            ..Self::empty()
        })
    }

    /// What a blob is once its row is committed, as far as growing has to know it; `before` is what it has grown from.
    pub(crate) fn committed(blob: &NewBlob, before: Option<&Self>) -> Self {
        let (pages, tail) = match &blob.layout {
            Layout::Paged { pages, tail } => (pages.clone(), tail.clone()),
            Layout::Inline(bytes) => (Vec::new(), bytes.clone()),
        };
        let mut loaded: HashMap<u64, Vec<Extent>> = HashMap::from_iter(blob.stored.pages.iter().cloned());
        for page in pages.iter().rev().take(2) {
            if let Some(extents) = before.and_then(|before| before.loaded.get(&page.page)) {
                loaded.entry(page.page).or_insert_with(|| extents.clone());
            }
        }
        let (size_bytes, etag) = (blob.size_bytes, blob.etag.clone());
        Self { size_bytes, etag, pages, tail, loaded, ..Self::empty() }
    }

    /// How much of it is in pages.
    pub(super) fn paged_bytes(&self) -> u64 {
        self.size_bytes.saturating_sub(self.tail.len() as u64)
    }

    /// The CRC-32 of what is in pages.
    pub(super) fn paged_crc32(&self) -> u32 {
        let ends = self.pages.iter().skip(1).map(|next| next.start).chain([self.paged_bytes()]);
        self.pages
            .iter()
            .zip(ends)
            .fold(0, |crc32, (page, end)| combine_crc32(crc32, page.crc32, end.saturating_sub(page.start)))
    }

    /// What is in pages, for an edit of them.
    pub(super) fn manifest(&self) -> Manifest<'_> {
        Manifest { pages: &self.pages, size_bytes: self.paged_bytes(), loaded: &self.loaded }
    }

    /// Where a range of a segment lies that one of the loaded pages names.
    pub(super) fn place(&self, segment: u64) -> Result<&Place> {
        let place = self.keyed.iter().find_map(|page| page.keys.get(&segment));
        place.ok_or_else(|| Error::Internal(format!("segment {segment} has no row")))
    }
}

/// Reads what is in pages, around the place of the edit.
pub(super) struct Pages<'a, P> {
    pub(super) platform: &'a P,
    pub(super) base: &'a Base,
}

impl<P: Platform> Old for Pages<'_, P> {
    async fn read(&self, range: Range<u64>, into: &mut Vec<u8>) -> Result<()> {
        read_plan(self.platform, manifest::slices(&self.base.keyed, range)?, into).await
    }
}

/// Reads a plan into memory: a bounded one.
pub(crate) async fn read_plan<P: Platform>(platform: &P, plan: ReadPlan, into: &mut Vec<u8>) -> Result<()> {
    for slice in plan.into_slices() {
        match slice {
            Slice::Inline(bytes) => into.extend_from_slice(&bytes),
            Slice::Zeros(count) => {
                let count = usize::try_from(count).map_err(|_| Error::Busy)?;
                into.resize(into.len().saturating_add(count), 0);
            }
            Slice::Object { place, range } => {
                into.extend_from_slice(&read_object(platform, &place, range).await?);
            }
        }
    }
    Ok(())
}

/// Reads a part of an object into memory: a bounded one.
pub(crate) async fn read_object<P: Platform>(
    platform: &P,
    place: &Place,
    range: Range<u64>,
) -> Result<Vec<u8>, BucketError> {
    let bucket = platform.bucket_of(place.bucket.as_deref())?;
    match &place.etag {
        None => bucket.get(&place.key, range).await,
        Some(etag) => bucket.get_unchanged(&place.key, etag, range).await,
    }
}

/// Reads a page with its extents and where its segments are.
pub(crate) fn keyed_page(row: &Row) -> Result<KeyedPage> {
    let keys: Vec<(u64, String, Option<String>, Option<String>)> = manifest::from_json(row.text("keys")?)?;
    let place = |(segment, key, bucket, etag)| (segment, Place { bucket, key, etag });
    let keys = keys.into_iter().map(place).collect();
    Ok(KeyedPage { start: row.unsigned("start")?, extents: manifest::from_json(row.text("extents")?)?, keys })
}

/// Reads a row's tail.
pub(crate) fn tail_of(row: &Row) -> Result<Vec<u8>> {
    decode(row.text_or_null("tail")?)
}

/// None where the version wasn't made by appending, or has a label, which keeps it; or the policy wants each by itself.
fn appended_to(row: &Row) -> Result<Option<AppendedTo>> {
    let since = row.integer_or_null("appended_since")?.map(Timestamp);
    let (Some(since), Some(window_secs), 0) =
        (since, row.integer_or_null("append_window_secs")?, row.integer("is_labelled")?)
    else {
        return Ok(None);
    };
    let author = row.text("author_id")?.to_owned();
    Ok(Some(AppendedTo { since, until: since.plus_secs(window_secs), author }))
}

/// Reads content that stands in a row.
pub(crate) fn decode(text: Option<&str>) -> Result<Vec<u8>> {
    STANDARD
        .decode(text.unwrap_or_default())
        .map_err(|error| Error::Internal(format!("content in a row: {error}")))
}

fn crc32(row: &Row) -> Result<u32> {
    Ok(u32::try_from(row.integer("crc32")?).unwrap_or_default())
}
