//! A step that copies: the members of a few folders, in one batch.

use std::collections::HashMap;

use serde_json::Value;

use super::super::commit::quota;
use super::{CopyLimits, Large, MAX_NODES_BY_JOB};
use crate::auth::{self, Right, in_scope, scope};
use crate::error::{Conflict, Error, Result};
use crate::ids::AccountId;
use crate::jobs::{Claimed, Progress, Step};
use crate::manifest;
use crate::path::MAX_DEPTH;
use crate::ports::{Db, DbError, Host, Platform, Row, Statement};
use crate::token::Token;
use crate::trash::copy_root;

/// Whether the node ?3 is there still, and in the scope of the token ?2.
const SOURCE: &str = concat!("with ", scope!(), " select ", in_scope!("?3"), " as lives from scope");

const TOP: &str = "select 1 from nodes where id = ?1 and parent_id = ?2";

/// The next ?2 folders of the job ?1, and whether living folders lead up from them to the source ?3 still.
const NEXT: &str = "select f.folder, f.depth, exists (
        with recursive up (id, parent_id) as (
            select p.id, p.parent_id from nodes p where p.n = f.folder and p.trashed_at is null
            union all
            select a.id, a.parent_id from up u cross join nodes a where a.id = u.parent_id and a.trashed_at is null
        ) select 1 from up u where u.id = ?3) as is_below
   from copy_folders f where f.job = ?1 order by f.folder limit ?2";

/// The next ?3 members of those folders.
const MEMBERS: &str = "select f.folder, f.depth, k.n, k.kind, k.name_nfc, b.size_bytes
   from copy_folders f cross join nodes p on p.n = f.folder
  cross join nodes k on k.parent_id = p.id and k.trashed_at is null and k.name_nfc > f.after
   left join versions v on v.id = k.version_id
   left join blobs b on b.id = v.blob_id
  where f.job = ?1 and f.folder <= (
     select max(l.folder) from (select c.folder from copy_folders c where c.job = ?1 order by c.folder limit ?2) l)
  order by f.folder, k.name_nfc limit ?3";

/// Where the top isn't under its root any more, nothing may be added.
const STILL_THERE: &str = "insert into guard (why) select 'tree_changed' where not exists (
    select 1 from nodes where id = ?1 and parent_id = ?2)";

/// The nodes of ?1, `[[key of the source, id, version's id, parent's id, depth], …]`, as far as they are there and not copied
/// yet. What another member has been called like since isn't copied beside it.
const COPY_NODES: &str =
    "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, version_id, created_at, modified_at)
     select json_extract(e.value, '$[1]'), o.space_id, json_extract(e.value, '$[3]'), o.name, o.name_nfc, o.kind,
            case o.kind when 'file' then json_extract(e.value, '$[2]') end,
            ?2, case o.kind when 'file' then o.modified_at else ?2 end
       from json_each(?1) e cross join nodes o on o.n = json_extract(e.value, '$[0]')
      where o.trashed_at is null
         on conflict do nothing";

/// Their current versions: those that a file has none of yet.
macro_rules! new_versions {
    () => {
        " from json_each(?1) e cross join nodes c on c.id = json_extract(e.value, '$[1]')
         cross join nodes o on o.n = json_extract(e.value, '$[0]')
         cross join versions v on v.id = o.version_id
         where c.kind = 'file' and not exists (select 1 from versions w where w.node_id = c.id)"
    };
}

const COPY_BYTES: &str = concat!(
    "update spaces set used_bytes = used_bytes + (
        select coalesce(sum((select b.size_bytes from blobs b where b.id = v.blob_id)), 0)",
    new_versions!(),
    ") where id = ?2"
);

const COPY_VERSIONS: &str = concat!(
    "insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
     select c.version_id, c.id, v.blob_id, ?3, ?2, v.modified_at",
    new_versions!()
);

const COPY_PROPERTIES: &str = "insert into properties (node, namespace, name, xml)
     select c.n, prop.namespace, prop.name, prop.xml
       from json_each(?1) e cross join nodes c on c.id = json_extract(e.value, '$[1]')
      cross join properties prop on prop.node = json_extract(e.value, '$[0]')
      where true
         on conflict do nothing";

/// The folders among them wait for their turn, those that are where they were copied to.
const WAIT: &str = "insert into copy_folders (job, folder, depth)
     select ?2, json_extract(e.value, '$[0]'), json_extract(e.value, '$[4]')
       from json_each(?1) e cross join nodes c on c.id = json_extract(e.value, '$[1]')
      where c.kind = 'folder' and c.parent_id = json_extract(e.value, '$[3]')
         on conflict do nothing";

/// What is to be copied next.
pub(super) struct Page {
    account: AccountId,
    /// By the keys of their folders.
    members: Vec<Member>,
    /// The folders of which that is all, or which have left the source.
    done: Vec<u64>,
    /// The one of which there is more, and the last name.
    partly: Option<(u64, String)>,
}

struct Member {
    folder: u64,
    key: u64,
    /// Below the top.
    depth: u64,
    name_nfc: String,
    size_bytes: u64,
}

impl Page {
    /// Reads it, if the token may still do that; None where all is copied. One round trip.
    pub(super) async fn read<P: Platform>(
        platform: &P,
        job: &Claimed,
        large: &Large,
        token: &Token,
        limits: CopyLimits,
    ) -> Result<Option<Self>> {
        let source = large.copied.source.as_str();
        let batch = vec![
            auth::look_up_nodes(token, &large.space, platform.host().now()),
            Statement::new(SOURCE).bind(&large.space).bind(token.hash().to_string()).bind(source),
            Statement::new(TOP).bind(&large.top).bind(copy_root(&job.id)),
            Statement::new(NEXT).bind(&job.id).bind(limits.folders).bind(source),
            Statement::new(MEMBERS).bind(&job.id).bind(limits.folders).bind(limits.nodes as u64 + 1),
        ];
        let results = platform.db().read(batch).await?;
        let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
        let caller = auth::authorise(rows(0).first(), Right::Write)?;
        if rows(1).first().map(|row| row.integer("lives")).transpose()? != Some(1) {
            return Err(Error::NotFound);
        }
        if rows(2).is_empty() {
            return Err(Large::gone());
        }
        if rows(3).is_empty() {
            return Ok(None);
        }
        Self::choose(caller.account, rows(3), rows(4), limits.nodes).map(Some)
    }

    fn choose(account: AccountId, folders: &[Row], members: &[Row], most: usize) -> Result<Self> {
        let is_cut = members.len() > most;
        let mut all = members.iter().take(most).map(Member::read).collect::<Result<Vec<_>>>()?;
        let partly = all.last().filter(|_| is_cut).map(|last| (last.folder, last.name_nfc.clone()));
        let mut below = HashMap::new();
        let mut done = Vec::new();
        for row in folders {
            let (folder, is_below) = (row.unsigned("folder")?, row.integer("is_below")? == 1);
            below.insert(folder, is_below);
            if partly.as_ref().is_none_or(|(last, _)| folder < *last) || !is_below {
                done.push(folder);
            }
        }
        all.retain(|member| below.get(&member.folder) == Some(&true));
        let partly = partly.filter(|(last, _)| below.get(last) == Some(&true));
        Ok(Self { account, members: all, done, partly })
    }

    /// Copies it. One round trip.
    pub(super) async fn copy<P: Platform>(&self, platform: &P, job: &Claimed, large: &Large) -> Result<Step> {
        let progress = Progress {
            items_done: job.progress.items_done + self.members.len() as u64,
            bytes_done: job.progress.bytes_done
                + self.members.iter().map(|member| member.size_bytes).sum::<u64>(),
            ..job.progress
        };
        if progress.items_done > MAX_NODES_BY_JOB {
            return Err(Error::TooManyNodes { verb: "copy", limit: MAX_NODES_BY_JOB });
        }
        let deepest = self.members.iter().map(|member| member.depth).max().unwrap_or_default();
        if large.depth as u64 + deepest > MAX_DEPTH as u64 {
            return Err(Error::Conflict(Conflict::TooDeep));
        }
        let now = platform.host().now();
        let rows: Vec<_> = (self.members.iter())
            .map(|member| {
                let copied = &large.copied;
                let parent = copied.id(member.folder);
                (member.key, copied.id(member.key), copied.version_id(member.key), parent, member.depth)
            })
            .collect();
        let rows = manifest::to_json(&rows)?;
        let on_rows = |sql: &'static str| Statement::new(sql).bind(rows.as_str());
        let done = "delete from copy_folders where job = ?1 and folder in (select value from json_each(?2))";
        let mut batch = vec![
            job.guard(),
            Statement::new(STILL_THERE).bind(&large.top).bind(copy_root(&job.id)),
            on_rows(COPY_NODES).bind(now),
            on_rows(COPY_BYTES).bind(&large.space),
            on_rows(COPY_VERSIONS).bind(now).bind(&self.account),
            on_rows(COPY_PROPERTIES),
            on_rows(WAIT).bind(&job.id),
            Statement::new(done).bind(&job.id).bind(manifest::to_json(&self.done)?),
        ];
        if let Some((folder, after)) = &self.partly {
            let partly = "update copy_folders set after = ?3 where job = ?1 and folder = ?2";
            batch.push(Statement::new(partly).bind(&job.id).bind(*folder).bind(after.as_str()));
        }
        batch.extend([quota(&large.space), job.checkpoint(&Value::Null, progress, now)?]);
        match platform.db().write(batch).await {
            Err(DbError::Violated(why)) if why == "quota_exceeded" => Err(Error::QuotaExceeded),
            Err(DbError::Violated(why)) if why == "tree_changed" => Err(Large::gone()),
            done => {
                done?;
                Ok(Step::More { progress, checkpoint: Value::Null, after_secs: 0 })
            }
        }
    }
}

impl Member {
    fn read(row: &Row) -> Result<Self> {
        let size_bytes = row.integer_or_null("size_bytes")?.unwrap_or_default();
        Ok(Self {
            folder: row.unsigned("folder")?,
            key: row.unsigned("n")?,
            depth: row.unsigned("depth")? + 1,
            name_nfc: row.text("name_nfc")?.to_owned(),
            size_bytes: u64::try_from(size_bytes).unwrap_or_default(),
        })
    }
}
