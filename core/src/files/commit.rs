//! The commit: everything that was received becomes a version, in one guarded batch.
//!
//! What was read before (who may write, the parent, the current version, known segments, the quota) is checked
//! again by the batch's first statement. It inserts the first thing that no longer holds into `guard`, whose
//! constraint of that name rolls the batch back.

use crate::auth;
use crate::blobs::{BlobRow, NewBlob};
use crate::changes::{Record, What, record};
use crate::error::{Conflict, Error, Result, Unavailable};
use crate::ids::{AccountId, BlobId, JobId, NodeId, VersionId};
use crate::ingest;
use crate::locks::{self, Touched};
use crate::once;
use crate::path::Name;
use crate::ports::{Db, DbError, Platform, Statement, Timestamp};
use crate::thumbnails;
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
pub(crate) struct Commit<'a> {
    pub(crate) address: &'a Address,
    pub(crate) name: &'a Name,
    pub(crate) parent: &'a NodeId,
    /// The node and the version that it has now; None where the name is free.
    pub(crate) replaces: Option<(&'a NodeId, &'a VersionId)>,
    /// The blob of that version, if there is nothing in it.
    pub(crate) placeholder: Option<&'a BlobId>,
    /// The node that the version will belong to.
    pub(crate) node: &'a NodeId,
    pub(crate) version: &'a VersionId,
    pub(crate) blob: &'a BlobId,
    pub(crate) account: &'a AccountId,
    pub(crate) space_key: i64,
    pub(crate) media_type: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) modified_at: Timestamp,
    pub(crate) content: Content<'a>,
    /// Where it was made by appending.
    pub(crate) appended: Option<Appended<'a>>,
    /// Statements of the same batch: guards, and what else is to happen with it.
    pub(crate) also: Vec<Statement>,
}

/// How appends go on in one version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Appended<'a> {
    /// When the first of them was.
    pub(crate) since: Timestamp,
    /// The version that they go on from, and its blob: it goes, if it has no label by then.
    pub(crate) absorbs: Option<(&'a VersionId, &'a BlobId)>,
}

/// What a new version holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// A blob that gets its row with the version.
    New(&'a NewBlob),
    /// One that has its row, and that no version has yet.
    Draft {
        /// Its size.
        size_bytes: u64,
    },
}

impl Content<'_> {
    pub(crate) fn size_bytes(self) -> u64 {
        match self {
            Self::New(blob) => blob.size_bytes,
            Self::Draft { size_bytes } => size_bytes,
        }
    }
}

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
    pub(crate) async fn run<P: Platform>(&self, platform: &P) -> Result<(), Refused> {
        let mut batch = self.statements().map_err(Refused::For)?;
        let wanted = self.thumbnails(platform, &mut batch).map_err(Refused::For)?;
        let happened = Statement::new("select 1 from versions where id = ?1").bind(self.version);
        write_once(platform, batch, &happened).await?;
        thumbnails::wake(platform, wanted).await;
        Ok(())
    }

    /// Adds the job that makes thumbnails of the new content, where the operator wants it so; to be woken after the commit.
    pub(crate) fn thumbnails<P: Platform>(
        &self,
        platform: &P,
        batch: &mut Vec<Statement>,
    ) -> Result<Option<JobId>> {
        let picture = (self.blob, self.media_type, self.content.size_bytes());
        let Some((job, statements)) = thumbnails::on_commit(platform, picture, self.now)? else {
            return Ok(None);
        };
        batch.extend(statements);
        Ok(Some(job))
    }

    pub(crate) fn statements(&self) -> Result<Vec<Statement>> {
        let mut batch = vec![self.guard()];
        // A new member changes its folder, new content only the file.
        let touched = Touched::node(self.replaces.map_or(self.parent, |(node, _)| node));
        batch.extend(locks::guards(&self.address.token, &self.address.space, self.now, &touched)?);
        if let Content::New(blob) = self.content {
            batch.extend(blob.guard(self.now)?);
            let row = BlobRow {
                id: self.blob,
                media_type: self.media_type,
                space_key: self.space_key,
                now: self.now,
            };
            batch.extend(blob.rows(&row)?);
        }
        batch.extend(self.also.iter().cloned());
        batch.extend(self.tree()?);
        Ok(batch)
    }

    fn guard(&self) -> Statement {
        let sql = format!(
            "insert into guard (why) select why from (select case
               when not {still_writes} then 'access_gone'
               when not {parent_lives} then 'parent_gone'
               when (select id from nodes where parent_id = ?4 and name_nfc = ?5 and trashed_at is null) is not ?6
                 or (select version_id from nodes where id = ?6) is not ?7 then 'target_changed'
             end as why) where why is not null",
            still_writes = auth::STILL_WRITES_IN,
            parent_lives = tree::PARENT_LIVES,
        );
        Statement::new(sql)
            .bind(self.address.token.hash().to_string())
            .bind(&self.address.space)
            .bind(self.now)
            .bind(self.parent)
            .bind(self.name.nfc())
            .bind(self.replaces.map(|(node, _)| node))
            .bind(self.replaces.map(|(_, version)| version))
    }

    /// Behind what counts the new bytes, what they no longer hold reserved (an upload's, a pack's), and the versions that go
    /// for them. Without a quota there
    /// is room for what every database and every JSON reader can count: files full of holes cost nothing, but count.
    fn guard_quota(&self) -> Statement {
        Statement::new(
            "insert into guard (why)
             select 'quota_exceeded' from spaces
              where id = ?1 and used_bytes + reserved_bytes > coalesce(quota_bytes, 9007199254740991)",
        )
        .bind(&self.address.space)
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
            .bind(self.content.size_bytes());
        let mut statements = vec![node, version, space];
        if let Some(appended) = self.appended {
            let since = Statement::new("update versions set appended_since = ?2 where id = ?1");
            statements.push(since.bind(self.version).bind(appended.since));
            statements.extend(appended.absorbs.iter().flat_map(|it| self.absorb(it.0, it.1)));
        }
        if let Some((_, replaced)) = self.replaces {
            statements.extend(self.placeholder.iter().flat_map(|blob| self.forget(replaced, blob)));
            statements.extend(remove_excess(self.node, self.now));
        } else {
            let parent = Statement::new("update nodes set modified_at = ?2 where id = ?1");
            statements.push(parent.bind(self.parent).bind(self.now));
        }
        statements.push(self.guard_quota());
        let what = if self.replaces.is_some() { What::Updated } else { What::Created };
        let change = Record::of_file(what, self.node.as_str());
        statements.extend(record(&self.address.space, self.now, &[change], &[self.parent.as_str()])?);
        Ok(statements)
    }

    /// Removes the version that appends go on from: all that was in it is in the new one. Its pages go with what else is
    /// kept no longer.
    fn absorb(&self, version: &VersionId, blob: &BlobId) -> [Statement; 3] {
        [
            Statement::new(
                "update spaces set used_bytes = used_bytes - coalesce((
                    select b.size_bytes from versions v cross join blobs b on b.id = v.blob_id
                     where v.id = ?2 and v.label is null), 0)
                  where id = ?1",
            )
            .bind(&self.address.space)
            .bind(version),
            Statement::new("delete from versions where id = ?1 and label is null").bind(version),
            remove_loose_blob(blob),
        ]
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
        "ingest_gone" => ingest::expired(),
        "upload_gone" => Error::NotFound,
        "upload_changed" => Error::Conflict(Conflict::WrongOffset),
        "segments_gone" => Error::Unavailable(Unavailable::SegmentsGone),
        _ => error.into(),
    })
}
