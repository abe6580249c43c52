//! The one batch that takes a page in.

use super::UNKNOWN_CRC32;
use super::keys::{Standing, Tree};
use super::step::{At, Import, progress};
use crate::auth;
use crate::blobs::for_each_piece;
use crate::changes::{Record, What, record};
use crate::error::{Error, Result};
use crate::ids::{BlobId, NodeId, VersionId};
use crate::ingest::Ingest;
use crate::jobs::Claimed;
use crate::locks::{self, Touched};
use crate::manifest::{self, Extent, PageRef};
use crate::media_type;
use crate::nodes;
use crate::once::write_once;
use crate::path::Name;
use crate::ports::{Db, DbError, Host, Listed, Platform, Statement, Timestamp};

/// What became of it.
pub(super) enum Committed {
    Done,
    /// Somebody was faster: look again.
    SpaceChanged,
}

/// Refuses where the import may not go on, or what it has read isn't so any more.
const GUARD: &str = "insert into guard (why) select why from (select case
       when (select change_seq from spaces where id = ?2) <> ?4 then 'tree_changed'
       when not exists (select 1 from ingests where id = ?5 and expires_at > ?3) then 'tree_changed'
       when not (";

const SEGMENTS: &str = "insert into segments (id, key, size_bytes, source_etag, state_at, bucket)
     select json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
            json_extract(value, '$[3]'), ?2, ?3
       from json_each(?1)";

const PAGES: &str = "insert into pages (id, extents)
     select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?1)";

const PAGE_SEGMENTS: &str =
    "insert into page_segments (segment, page) select value, value from json_each(?1)";

const BLOBS: &str = "insert into blobs (id, size_bytes, etag, media_type, crc32, inline, pages)
     select json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
            json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'),
            json_extract(value, '$[6]')
       from json_each(?1)";

const NODES: &str =
    "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, version_id, created_at, modified_at)
     select json_extract(value, '$[0]'), ?2, json_extract(value, '$[1]'), json_extract(value, '$[2]'),
            json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'), ?3,
            json_extract(value, '$[6]')
       from json_each(?1)";

const VERSIONS: &str = "insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
     select json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), ?2, ?3,
            json_extract(value, '$[3]')
       from json_each(?1)";

const REFUSED: &str = "insert into import_refusals (import, n, key, code, reason)
     select ?2, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
            json_extract(value, '$[3]')
       from json_each(?1)";

/// Makes what the tree has to be made, notes what it refuses, and raises the counts of `next`. One round trip.
pub(super) async fn commit<P: Platform>(
    platform: &P,
    job: &Claimed,
    import: &Import,
    tree: &Tree<'_>,
    (seq, ingest): (u64, &Ingest),
    etag_of: impl Fn(&Listed) -> Option<String>,
    next: &mut At,
) -> Result<Committed> {
    let (host, now) = (platform.host(), platform.host().now());
    let new = New::of(host, tree, ingest, etag_of)?;
    let refused_before = next.counts.refused;
    next.counts.files += new.files.len() as u64;
    next.counts.folders += new.folders.len() as u64;
    next.counts.bytes += new.files.iter().map(|file| file.object.size_bytes).sum::<u64>();
    next.counts.unchanged += tree.unchanged;
    next.counts.own += tree.own;
    next.counts.refused += tree.refused.len() as u64;
    let mut batch = vec![job.guard(), import.guard(seq, ingest, now)];
    batch.extend(new.statements(import, job, now)?);
    let refused = tree.refused.iter().zip(refused_before..);
    let refused = refused.map(|((key, refusal), n)| (n, *key, refusal.code(), refusal.to_string()));
    batch.extend(for_each_piece(refused, |json| Statement::new(REFUSED).bind(json).bind(&job.id))?);
    batch.push(counted(job, next));
    batch.push(ingest.close());
    let checkpoint = serde_json::to_value(&*next).map_err(|error| Error::Internal(error.to_string()))?;
    batch.push(job.checkpoint(&checkpoint, progress(next), now)?);
    let happened = Statement::new("select 1 from ingests where id = ?1").bind(ingest.id);
    let happened = async || -> Result<bool, DbError> {
        Ok(platform.db().read(vec![happened.clone()]).await?.iter().all(Vec::is_empty))
    };
    match write_once(platform.db(), batch, happened).await {
        Ok(()) => Ok(Committed::Done),
        Err(DbError::Duplicate(_)) => Ok(Committed::SpaceChanged),
        // Whoever may not any more is told so when the space is read again.
        Err(DbError::Violated(why)) if ["tree_changed", "access_gone"].contains(&why.as_str()) => {
            Ok(Committed::SpaceChanged)
        }
        Err(DbError::Violated(why)) if why == "quota_exceeded" => Err(Error::QuotaExceeded),
        Err(DbError::Violated(why)) if why == "locked" => Err(Error::invalid(
            "into",
            "a folder that it goes to is locked: unlock it, then try the job again",
        )),
        Err(error) => Err(error.into()),
    }
}

impl Import {
    fn guard(&self, seq: u64, ingest: &Ingest, now: Timestamp) -> Statement {
        let admin = auth::STILL_ADMINISTERS.replace("?2", "?3");
        let sql = format!(
            "{GUARD}{} and {admin}) then 'access_gone' end as why) where why is not null",
            auth::STILL_OWNS
        );
        Statement::new(sql)
            .bind(self.token.hash().to_string())
            .bind(&self.space)
            .bind(now)
            .bind(seq)
            .bind(ingest.id)
    }
}

fn counted(job: &Claimed, at: &At) -> Statement {
    let counts = at.counts;
    Statement::new(
        "update imports set files = ?2, folders = ?3, bytes = ?4, unchanged = ?5, own = ?6, refused = ?7 where id = ?1",
    )
    .bind(&job.id)
    .bind(counts.files)
    .bind(counts.folders)
    .bind(counts.bytes)
    .bind(counts.unchanged)
    .bind(counts.own)
    .bind(counts.refused)
}

/// What is to be made.
struct New<'a> {
    folders: Vec<Node<'a>>,
    files: Vec<File<'a>>,
    /// Folders that were there and get members.
    grown: Vec<&'a str>,
}

struct Node<'a> {
    id: NodeId,
    parent: String,
    name: &'a Name,
    /// Whether the folder above is new, too.
    is_below_new: bool,
}

struct File<'a> {
    node: Node<'a>,
    object: &'a Listed,
    version: VersionId,
    blob: BlobId,
    /// The id of its segment and of its page; None where it is empty.
    stored: Option<u64>,
    etag: String,
}

impl<'a> New<'a> {
    fn of(
        host: &impl Host,
        tree: &'a Tree<'a>,
        ingest: &Ingest,
        etag_of: impl Fn(&Listed) -> Option<String>,
    ) -> Result<Self> {
        let mut new = Self { folders: Vec::new(), files: Vec::new(), grown: Vec::new() };
        // A place comes behind the one above.
        let mut ids: Vec<Option<NodeId>> = Vec::with_capacity(tree.places.len());
        for place in &tree.places {
            ids.push(place.is_made.then(|| NodeId::new(host)));
            let (Some(Some(id)), Some(name)) = (ids.last().cloned(), &place.name) else { continue };
            let above = tree.places.get(place.above).and_then(|above| above.standing.as_ref());
            let (parent, is_below_new) = match (above, ids.get(place.above).and_then(Option::as_ref)) {
                (Some(Standing::Folder { id }), _) => {
                    new.grown.push(id);
                    (id.clone(), false)
                }
                (_, Some(id)) => (id.to_string(), true),
                _ => return Err(Error::Internal("an import into nowhere".to_owned())),
            };
            let node = Node { id, parent, name, is_below_new };
            let Some(object) = place.object else {
                new.folders.push(node);
                continue;
            };
            new.files.push(File {
                node,
                object,
                version: VersionId::new(host),
                blob: BlobId::new(host),
                stored: (object.size_bytes > 0).then(|| ingest.nth_id(new.files.len() as u64)),
                etag: etag_of(object).ok_or_else(|| Error::Internal("no entity tag".to_owned()))?,
            });
        }
        new.grown.sort_unstable();
        new.grown.dedup();
        Ok(new)
    }

    fn statements(&self, import: &Import, job: &Claimed, now: Timestamp) -> Result<Vec<Statement>> {
        if self.folders.is_empty() && self.files.is_empty() {
            return Ok(Vec::new());
        }
        let account = job.account.as_ref().ok_or(Error::Unauthenticated)?;
        let grown = self.grown.iter().map(ToString::to_string).collect();
        let touched = Touched { nodes: grown, trees: Vec::new() };
        let mut batch = locks::guards(&import.token, &import.space, now, &touched)?;
        batch.extend(self.content(import, now)?);
        let folders = self.folders.iter().map(|folder| folder.row(None, now.0));
        let files = self.files.iter().map(|file| file.node.row(Some(&file.version), file.object.stored_at.0));
        batch.extend(for_each_piece(folders.chain(files), |json| {
            Statement::new(NODES).bind(json).bind(&import.space).bind(now)
        })?);
        let versions =
            self.files.iter().map(|file| (&file.version, &file.node.id, &file.blob, file.object.stored_at.0));
        batch.extend(for_each_piece(versions, |json| {
            Statement::new(VERSIONS).bind(json).bind(account).bind(now)
        })?);
        let bytes: u64 = self.files.iter().map(|file| file.object.size_bytes).sum();
        let used = "update spaces set used_bytes = used_bytes + ?2 where id = ?1";
        let changed = "update nodes set modified_at = ?2 where id in (select value from json_each(?1))";
        batch.extend([
            Statement::new(used).bind(&import.space).bind(bytes),
            nodes::quota(&import.space),
            Statement::new(changed).bind(manifest::to_json(&self.grown)?).bind(now),
        ]);
        batch.extend(self.recorded(import, now)?);
        Ok(batch)
    }

    /// Each object as a segment, a page of one extent, and a blob of that page.
    fn content(&self, import: &Import, now: Timestamp) -> Result<Vec<Statement>> {
        let bucket = import.bucket.as_ref().map(|(n, _)| *n);
        let stored = || self.files.iter().filter_map(|file| Some((file.stored?, file.object)));
        let segments = stored().map(|(id, object)| (id, &object.key, object.size_bytes, &object.etag));
        let mut batch =
            for_each_piece(segments, |json| Statement::new(SEGMENTS).bind(json).bind(now).bind(bucket))?;
        let page = |(segment, object): (u64, &Listed)| {
            let extent = Extent { segment, offset: 0, length: object.size_bytes, crc32: 0 };
            Ok((segment, manifest::to_json(&[extent])?))
        };
        let pages: Vec<(u64, String)> = stored().map(page).collect::<Result<_>>()?;
        batch.extend(for_each_piece(pages.iter(), |json| Statement::new(PAGES).bind(json))?);
        let ids = stored().map(|(id, _)| id);
        batch.extend(for_each_piece(ids, |json| Statement::new(PAGE_SEGMENTS).bind(json))?);
        let blobs: Vec<_> = self.files.iter().map(File::blob_row).collect::<Result<_>>()?;
        batch.extend(for_each_piece(blobs.iter(), |json| Statement::new(BLOBS).bind(json))?);
        Ok(batch)
    }

    /// A new folder stands for all that is new in it.
    fn recorded(&self, import: &Import, now: Timestamp) -> Result<Vec<Statement>> {
        let folders = self.folders.iter().filter(|folder| !folder.is_below_new).map(|folder| Record {
            what: What::Created,
            id: folder.id.as_str(),
            is_folder: true,
            subtree: true,
            from: None,
        });
        let files = self.files.iter().filter(|file| !file.node.is_below_new);
        let files = files.map(|file| Record::of_file(What::Created, file.node.id.as_str()));
        let changes: Vec<Record<'_>> = folders.chain(files).collect();
        let changed = self.grown.iter().copied().chain(self.folders.iter().map(|folder| folder.id.as_str()));
        record(&import.space, now, &changes, &changed.collect::<Vec<_>>())
    }
}

/// A row of `nodes`, for [`NODES`].
type NodeRow<'a> = (&'a NodeId, &'a str, &'a str, &'a str, &'static str, Option<&'a VersionId>, i64);

impl Node<'_> {
    fn row<'a>(&'a self, version: Option<&'a VersionId>, modified_at: i64) -> NodeRow<'a> {
        let kind = if version.is_some() { "file" } else { "folder" };
        (&self.id, &self.parent, self.name.as_str(), self.name.nfc(), kind, version, modified_at)
    }
}

/// A row of `blobs`, for [`BLOBS`].
type BlobRow<'a> = (&'a BlobId, u64, &'a str, String, i64, Option<&'static str>, Option<String>);

impl File<'_> {
    fn blob_row(&self) -> Result<BlobRow<'_>> {
        let list = |page| manifest::to_json(&[PageRef { start: 0, page, crc32: 0 }]);
        let pages = self.stored.map(list).transpose()?;
        let (crc32, inline) = if pages.is_some() { (UNKNOWN_CRC32, None) } else { (0, Some("")) };
        let media_type = media_type::guess(self.node.name.as_str());
        Ok((&self.blob, self.object.size_bytes, &self.etag, media_type, crc32, inline, pages))
    }
}
