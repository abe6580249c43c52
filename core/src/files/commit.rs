//! The commit: everything that was received becomes a version, in one guarded batch.
//!
//! What was read before (who may write, the parent, the current version, known segments, the quota) is checked
//! again by the batch's first statement. It inserts the first thing that no longer holds into `guard`, whose
//! constraint of that name rolls the batch back.

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::auth;
use crate::changes::{Record, What, record};
use crate::chunk::CHUNKER;
use crate::error::{Error, Result, Unavailable};
use crate::ids::{AccountId, BlobId, NodeId, VersionId};
use crate::ingest::{Content, Ingest, NewChunk, NewSegment, Received};
use crate::locks::{self, Touched};
use crate::manifest::{self, PageRef};
use crate::once;
use crate::path::Name;
use crate::ports::{Db, DbError, Platform, Statement, Timestamp};
use crate::tree::{self, Address};
use crate::versions::{remove_excess, remove_loose_blob};

/// Why a commit didn't happen.
pub(crate) enum Refused {
    /// The target isn't what it was when it was read: read again, decide again.
    TargetChanged,
    /// Anything else.
    For(Error),
}

/// A version that is ready to be committed. Its ids were chosen before, so that a lost answer can be resolved.
pub(super) struct Commit<'a> {
    pub(super) address: &'a Address,
    pub(super) name: &'a Name,
    pub(super) parent: &'a NodeId,
    /// The node and the version that it has now; None where the name is free.
    pub(super) replaces: Option<(&'a NodeId, &'a VersionId)>,
    /// The blob of that version, if there is nothing in it.
    pub(super) placeholder: Option<&'a BlobId>,
    /// The node that the version will belong to.
    pub(super) node: &'a NodeId,
    pub(super) version: &'a VersionId,
    pub(super) blob: &'a BlobId,
    pub(super) account: &'a AccountId,
    pub(super) space_key: i64,
    pub(super) media_type: &'a str,
    pub(super) now: Timestamp,
    pub(super) modified_at: Timestamp,
    pub(super) ingest: Option<&'a Ingest>,
    pub(super) received: &'a Received,
}

/// JSON texts of more than this are bound in several statements: a bound string ends at 2 MB.
const JSON_BYTES: usize = 1_000_000;

/// An empty version that is replaced so soon was there to hold the name: as long as a large upload may take.
const PLACEHOLDER_SECS: i64 = 60 * 60;

/// Runs a guarded batch once; `happened` returns a row if it took effect.
pub(crate) async fn write_once<P: Platform>(
    platform: &P,
    batch: Vec<Statement>,
    happened: &Statement,
) -> Result<(), Refused> {
    let happened = async || -> Result<bool, DbError> {
        Ok(platform.db().read(vec![happened.clone()]).await?.iter().any(|rows| !rows.is_empty()))
    };
    once::write_once(platform.db(), batch, happened).await.map_err(refusal)
}

impl Commit<'_> {
    /// Commits.
    pub(super) async fn run<P: Platform>(&self, platform: &P) -> Result<(), Refused> {
        let batch = self.statements().map_err(Refused::For)?;
        let happened = Statement::new("select 1 from versions where id = ?1").bind(self.version);
        write_once(platform, batch, &happened).await
    }

    pub(super) fn statements(&self) -> Result<Vec<Statement>> {
        let mut batch = vec![self.guard()?];
        // A new member changes its folder, new content only the file.
        let touched = Touched::node(self.replaces.map_or(self.parent, |(node, _)| node));
        batch.extend(locks::guards(&self.address.token, &self.address.space, self.now, &touched)?);
        let pages = match &self.received.content {
            Content::Inline(_) => None,
            Content::Stored { extents, segments, chunks, reused } => {
                batch.extend(self.segments(segments)?);
                batch.push(revive(reused, self.now)?);
                batch.extend(self.chunks(chunks)?);
                let ingest =
                    self.ingest.ok_or_else(|| Error::Internal("segments without an ingest".to_owned()))?;
                let mut n = 0;
                let pages = extents.paginate(|| {
                    n += 1;
                    ingest.nth_id(n - 1)
                });
                batch.extend(page_rows(&pages)?);
                Some(pages.iter().map(|(page, _)| *page).collect::<Vec<PageRef>>())
            }
        };
        batch.push(self.blob(pages)?);
        batch.extend(self.tree()?);
        if let Some(ingest) = self.ingest {
            batch.push(ingest.close());
        }
        Ok(batch)
    }

    fn guard(&self) -> Result<Statement> {
        let reused = match &self.received.content {
            Content::Stored { reused, .. } => manifest::to_json(reused)?,
            Content::Inline(_) => "[]".to_owned(),
        };
        let sql = format!(
            "insert into guard (why) select why from (select case
               when not {still_writes} then 'access_gone'
               when not {parent_lives} then 'parent_gone'
               when (select id from nodes where parent_id = ?4 and name_nfc = ?5 and trashed_at is null) is not ?6
                 or (select version_id from nodes where id = ?6) is not ?7 then 'target_changed'
               when (select used_bytes + reserved_bytes + ?8 > quota_bytes from spaces where id = ?2) then 'quota_exceeded'
               when ?9 is not null
                 and not exists (select 1 from ingests where id = ?9 and expires_at > ?3) then 'ingest_gone'
               when (select count(*) from json_each(?10) r cross join segments s on s.id = r.value
                      where s.state <> 'deleting') <> json_array_length(?10) then 'segments_gone'
             end as why) where why is not null",
            still_writes = auth::STILL_WRITES_IN,
            parent_lives = tree::PARENT_LIVES,
        );
        Ok(Statement::new(sql)
            .bind(self.address.token.hash().to_string())
            .bind(&self.address.space)
            .bind(self.now)
            .bind(self.parent)
            .bind(self.name.nfc())
            .bind(self.replaces.map(|(node, _)| node))
            .bind(self.replaces.map(|(_, version)| version))
            .bind(self.received.size_bytes)
            .bind(self.ingest.map(|ingest| ingest.id))
            .bind(reused))
    }

    fn segments(&self, segments: &[NewSegment]) -> Result<Vec<Statement>> {
        let rows = segments.iter().map(|segment| (segment.id, &segment.key, segment.size_bytes));
        for_each_piece(rows, |json| {
            Statement::new(
                "insert into segments (id, key, size_bytes, state_at)
                 select json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), ?2
                   from json_each(?1)",
            )
            .bind(json)
            .bind(self.now)
        })
    }

    /// Another upload may have stored the same chunk meanwhile: then the index keeps that one, and both stay readable.
    fn chunks(&self, chunks: &[NewChunk]) -> Result<Vec<Statement>> {
        let rows = chunks.iter().map(|chunk| (&chunk.hash, chunk.extent));
        for_each_piece(rows, |json| {
            Statement::new(
                "insert into chunks (space, hash, segment, offset, length, crc32, chunker, seen_at)
                 select ?2, json_extract(value, '$[0]'), json_extract(value, '$[1][0]'),
                        json_extract(value, '$[1][1]'), json_extract(value, '$[1][2]'),
                        json_extract(value, '$[1][3]'), ?3, ?4
                   from json_each(?1) where true
                 on conflict (space, hash) do nothing",
            )
            .bind(json)
            .bind(self.space_key)
            .bind(i64::from(CHUNKER))
            .bind(self.now)
        })
    }

    fn blob(&self, pages: Option<Vec<PageRef>>) -> Result<Statement> {
        let received = self.received;
        let inline = match &received.content {
            Content::Inline(bytes) => Some(STANDARD.encode(bytes)),
            Content::Stored { .. } => None,
        };
        let digests =
            (!received.digests.is_empty()).then(|| manifest::to_json(&received.digests)).transpose()?;
        Ok(Statement::new(
            "insert into blobs (id, size_bytes, etag, media_type, crc32, inline, pages, digests)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .bind(self.blob)
        .bind(received.size_bytes)
        .bind(received.etag.as_str())
        .bind(self.media_type)
        .bind(i64::from(received.crc32))
        .bind(inline)
        .bind(pages.map(|pages| manifest::to_json(&pages)).transpose()?)
        .bind(digests))
    }

    fn tree(&self) -> Result<Vec<Statement>> {
        let node = match self.replaces {
            Some(_) => Statement::new("update nodes set version_id = ?2, modified_at = ?3 where id = ?1")
                .bind(self.node)
                .bind(self.version)
                .bind(self.modified_at),
            None => Statement::new(
                "insert into nodes
                   (id, version_id, modified_at, space_id, parent_id, name, name_nfc, kind, created_at)
                 values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'file', ?8)",
            )
            .bind(self.node)
            .bind(self.version)
            .bind(self.modified_at)
            .bind(&self.address.space)
            .bind(self.parent)
            .bind(self.name.as_str())
            .bind(self.name.nfc())
            .bind(self.now),
        };
        let version = version_row(&VersionRow {
            id: self.version,
            node: self.node,
            blob: self.blob,
            author: self.account,
            now: self.now,
            modified_at: self.modified_at,
        });
        let space = Statement::new("update spaces set used_bytes = used_bytes + ?2 where id = ?1")
            .bind(&self.address.space)
            .bind(self.received.size_bytes);
        let mut statements = vec![node, version, space];
        if let Some((_, replaced)) = self.replaces {
            statements.extend(self.placeholder.iter().flat_map(|blob| self.forget(replaced, blob)));
            statements.extend(remove_excess(self.node, self.now));
        } else {
            let parent = Statement::new("update nodes set modified_at = ?2 where id = ?1");
            statements.push(parent.bind(self.parent).bind(self.now));
        }
        let what = if self.replaces.is_some() { What::Updated } else { What::Created };
        let change = Record::of_file(what, self.node.as_str());
        statements.extend(record(&self.address.space, self.now, &[change], &[self.parent.as_str()])?);
        Ok(statements)
    }

    /// Removes an empty version that was saved a short while ago: Finder and Explorer save a file empty before they save
    /// what is in it, and nobody wants to have that back. One with a label stays.
    fn forget(&self, version: &VersionId, blob: &BlobId) -> [Statement; 2] {
        let recent = self.now.plus_secs(-PLACEHOLDER_SECS);
        [
            Statement::new("delete from versions where id = ?1 and label is null and created_at > ?2")
                .bind(version)
                .bind(recent),
            remove_loose_blob(blob),
        ]
    }
}

/// A row of `versions`.
pub(crate) struct VersionRow<'a> {
    pub(crate) id: &'a VersionId,
    pub(crate) node: &'a NodeId,
    pub(crate) blob: &'a BlobId,
    pub(crate) author: &'a AccountId,
    pub(crate) now: Timestamp,
    pub(crate) modified_at: Timestamp,
}

/// Inserts a version. It is later than those before it, whatever the clocks say: the order of a file's history is
/// the order of its commits.
pub(crate) fn version_row(row: &VersionRow<'_>) -> Statement {
    Statement::new(
        "insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
         values (?1, ?2, ?3, ?4,
                 max(?5, coalesce((select max(created_at) + 1 from versions where node_id = ?2), 0)), ?6)",
    )
    .bind(row.id)
    .bind(row.node)
    .bind(row.blob)
    .bind(row.author)
    .bind(row.now)
    .bind(row.modified_at)
}

/// A segment that nothing referred to any more is needed again.
fn revive(reused: &[u64], now: Timestamp) -> Result<Statement> {
    Ok(Statement::new(
        "update segments set state = 'live', state_at = ?2
          where id in (select value from json_each(?1)) and state = 'doomed'",
    )
    .bind(manifest::to_json(&reused)?)
    .bind(now))
}

fn page_rows(pages: &[(PageRef, &[manifest::Extent])]) -> Result<Vec<Statement>> {
    let rows: Vec<(u64, String)> = pages
        .iter()
        .map(|(page, extents)| Ok((page.page, manifest::to_json(extents)?)))
        .collect::<Result<_>>()?;
    let mut statements = for_each_piece(rows.iter(), |json| {
        Statement::new(
            "insert into pages (id, extents)
             select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?1)",
        )
        .bind(json)
    })?;
    let references = pages.iter().flat_map(|(page, extents)| {
        let mut segments: Vec<u64> = extents
            .iter()
            .map(|extent| extent.segment)
            .filter(|segment| *segment != manifest::HOLE)
            .collect();
        segments.sort_unstable();
        segments.dedup();
        segments.into_iter().map(|segment| (segment, page.page))
    });
    statements.extend(for_each_piece(references, |json| {
        Statement::new(
            "insert into page_segments (segment, page)
             select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?1)",
        )
        .bind(json)
    })?);
    Ok(statements)
}

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

fn refusal(error: DbError) -> Refused {
    let DbError::Violated(why) = &error else {
        return match error {
            // Two writers gave a new file the same name: the guard of the second sees it next time.
            DbError::Duplicate(what) if what.contains("nodes.name_nfc") => Refused::TargetChanged,
            error => Refused::For(error.into()),
        };
    };
    Refused::For(match why.as_str() {
        // Whoever may not write any more, or not without a lock's token, is told so when the target is read again.
        "target_changed" | "parent_gone" | "access_gone" | "locked" | "if_failed" => {
            return Refused::TargetChanged;
        }
        "quota_exceeded" => Error::QuotaExceeded,
        "ingest_gone" => Error::invalid("body", "the upload took longer than a day"),
        "segments_gone" => Error::Unavailable(Unavailable::Bucket {
            cause: "a chunk that was found has been removed since".to_owned(),
        }),
        _ => error.into(),
    })
}
