//! The commit: what was decided, in one batch that holds only if what was read still does.

use super::decide::{Copied, Plan};
use super::over::Over;
use super::read::Read;
use super::view::Entry;
use super::{MAX_COPIED_NODES, Verb};
use crate::auth;
use crate::changes::{Record, What, record};
use crate::error::{Conflict, Error, Result};
use crate::files::for_each_piece;
use crate::ids::SpaceId;
use crate::locks;
use crate::manifest;
use crate::once::write_once;
use crate::path::MAX_DEPTH;
use crate::ports::{Db, DbError, Platform, Statement, Timestamp};
use crate::token::Token;
use crate::trash;

/// Why a commit didn't happen.
pub(super) enum Refused {
    /// The tree isn't what it was when it was read: read again, decide again.
    TreeChanged,
    /// A lock covers something that would change.
    Locked,
    /// Anything else.
    For(Error),
}

/// A plan that is ready to be committed.
pub(super) struct Commit<'a> {
    pub(super) token: &'a Token,
    pub(super) space: &'a SpaceId,
    pub(super) read: &'a Read,
    pub(super) now: Timestamp,
    pub(super) plan: &'a Plan,
    /// What a job has to say in the same batch: before anything else, and when all is done.
    pub(super) first: Vec<Statement>,
    pub(super) last: Vec<Statement>,
}

/// `tree`: every node of the trees that ?1 lists, `[[top, head, version head, mask, alone], …]`, with what its copy's id is
/// made from; of those that are alone, the top. `up` is the parent's key; null for a top.
macro_rules! tree {
    () => {
        "with recursive tree (n, id, up, head, version_head, mask, alone) as (
            select s.n, s.id, null, json_extract(c.value, '$[1]'), json_extract(c.value, '$[2]'),
                   json_extract(c.value, '$[3]'), json_extract(c.value, '$[4]')
              from json_each(?1) c cross join nodes s on s.id = json_extract(c.value, '$[0]')
            union all
            select k.n, k.id, t.n, t.head, t.version_head, t.mask, 0
              from tree t cross join nodes k where k.parent_id = t.id and k.trashed_at is null and not t.alone
        ) "
    };
}

/// New nodes, the tops parked under no parent and named by their ids until they get their places. SQLite has no xor.
const COPY_NODES: &str = concat!(
    tree!(),
    "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, version_id, created_at, modified_at)
     select t.head || printf('%012x', (t.n | t.mask) - (t.n & t.mask)), o.space_id,
            case when t.up is null then '' else t.head || printf('%012x', (t.up | t.mask) - (t.up & t.mask)) end,
            o.name,
            case when t.up is null then t.head || printf('%012x', (t.n | t.mask) - (t.n & t.mask))
                 else o.name_nfc end,
            o.kind,
            case when o.version_id is not null
                 then t.version_head || printf('%012x', (t.n | t.mask) - (t.n & t.mask)) end,
            ?2, case o.kind when 'file' then o.modified_at else ?2 end
       from tree t cross join nodes o on o.n = t.n"
);

/// Their versions: the current one of each file, with its blob.
const COPY_VERSIONS: &str = concat!(
    tree!(),
    "insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
     select t.version_head || printf('%012x', (t.n | t.mask) - (t.n & t.mask)),
            t.head || printf('%012x', (t.n | t.mask) - (t.n & t.mask)), v.blob_id, ?3, ?2, v.modified_at
       from tree t cross join nodes o on o.n = t.n cross join versions v on v.id = o.version_id"
);

/// Their dead properties.
const COPY_PROPERTIES: &str = concat!(
    tree!(),
    "insert into properties (node, namespace, name, xml)
     select c.n, prop.namespace, prop.name, prop.xml
       from tree t cross join properties prop on prop.node = t.n
      cross join nodes c on c.id = t.head || printf('%012x', (t.n | t.mask) - (t.n & t.mask))"
);

/// What they add to the space.
const COPY_BYTES: &str = concat!(
    tree!(),
    "update spaces set used_bytes = used_bytes + (
        select coalesce(sum(b.size_bytes), 0)
          from tree t cross join nodes o on o.n = t.n cross join versions v on v.id = o.version_id
         cross join blobs b on b.id = v.blob_id)
      where id = ?2"
);

/// Refuses copies of too many nodes; the recursion ends where it has met one too many.
const COPY_LIMIT: &str = "insert into guard (why)
    with recursive tree (id, alone) as (
        select s.id, json_extract(c.value, '$[4]')
          from json_each(?1) c cross join nodes s on s.id = json_extract(c.value, '$[0]')
        union all
        select k.id, 0 from tree t cross join nodes k
         where k.parent_id = t.id and k.trashed_at is null and not t.alone
        limit ?2 + 1
    ) select 'too_many_nodes' where (select count(*) from tree) > ?2";

/// Refuses what has grown beyond the quota by now, or beyond what every database can count: holes cost nothing, but
/// count.
const QUOTA: &str = "insert into guard (why)
    select 'quota_exceeded' from spaces where id = ?1 and used_bytes + reserved_bytes > coalesce(quota_bytes, 9007199254740991)";

/// Refuses trees that would reach too deep: ?1 lists the tops with the depth that each will have.
const DEPTH: &str = "insert into guard (why)
    with recursive down (id, depth) as (
        select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?1)
        union all
        select k.id, d.depth + 1 from down d cross join nodes k
         where k.parent_id = d.id and k.trashed_at is null and d.depth <= ?2
    ) select 'too_deep' where exists (select 1 from down where depth > ?2)";

/// Refuses if one of the nodes of ?2, `[[id, parent, name, trashed at, version or null, trashed from, state or null], …]`,
/// isn't as it was.
const UNCHANGED: &str = "insert into guard (why)
    select 'tree_changed' where (
        select count(*) from json_each(?2) e cross join nodes n on n.id = json_extract(e.value, '$[0]')
         where n.space_id = ?1 and n.parent_id = json_extract(e.value, '$[1]')
           and n.name = json_extract(e.value, '$[2]') and n.trashed_at is json_extract(e.value, '$[3]')
           and n.trashed_from is json_extract(e.value, '$[5]')
           and (json_extract(e.value, '$[4]') is null or n.version_id is json_extract(e.value, '$[4]'))
           and (json_extract(e.value, '$[6]') is null or n.changed_seq = json_extract(e.value, '$[6]'))
    ) <> json_array_length(?2)";

/// Gives the nodes of ?1 their places: `[[id, parent, name, NFC name, trashed at, trashed from], …]`.
const PLACE: &str =
    "update nodes set parent_id = json_extract(p.value, '$[1]'), name = json_extract(p.value, '$[2]'),
           name_nfc = json_extract(p.value, '$[3]'), trashed_at = json_extract(p.value, '$[4]'),
           trashed_from = json_extract(p.value, '$[5]')
      from json_each(?1) p where nodes.id = json_extract(p.value, '$[0]')";

/// How many of the nodes of ?1 are in those places.
const PLACED: &str = "select count(*) as placed
      from json_each(?1) p cross join nodes n on n.id = json_extract(p.value, '$[0]')
     where n.parent_id = json_extract(p.value, '$[1]') and n.name = json_extract(p.value, '$[2]')
       and n.trashed_at is json_extract(p.value, '$[4]')";

impl Commit<'_> {
    /// Commits.
    pub(super) async fn run<P: Platform>(&self, platform: &P) -> Result<(), Refused> {
        let batch = self.statements().map_err(Refused::For)?;
        let mut look =
            for_each_piece(self.places(), |json| Statement::new(PLACED).bind(json)).map_err(Refused::For)?;
        look.extend(self.plan.overs.iter().map(Over::placed));
        let happened = async || -> Result<bool, DbError> {
            let mut placed = 0;
            for row in platform.db().read(look.clone()).await?.iter().flatten() {
                placed += row.unsigned("placed")?;
            }
            Ok(placed == (self.plan.places.len() + self.plan.overs.len()) as u64)
        };
        write_once(platform.db(), batch, happened).await.map_err(refusal)
    }

    fn statements(&self) -> Result<Vec<Statement>> {
        let plan = self.plan;
        let mut batch = self.first.clone();
        batch.extend(self.guards()?);
        batch.extend(depth(&plan.deeper_copies)?);
        let touched = self.plan.touched();
        batch.extend(locks::guards(self.token, self.space, self.now, &touched)?);
        if !touched.trees.is_empty() {
            batch.push(locks::remove_with(self.space, self.now, &touched.trees)?);
        }
        if !self.read.expired.is_empty() {
            let (guard, removal) = trash::remove_expired(&self.read.expired, self.space, self.now)?;
            batch.push(guard);
            batch.extend(removal);
        }
        if plan.copies.iter().any(|copied| copied.built_for.is_none()) {
            batch.extend(self.copies()?);
        } else if !plan.copies.is_empty() {
            batch.push(quota(self.space));
        }
        if !plan.displaced.is_empty() {
            // Two nodes can't have a name at once, not even between two rows of an update.
            let park = "update nodes set parent_id = '', name_nfc = id where id in (select value from json_each(?1))";
            batch.push(Statement::new(park).bind(manifest::to_json(&plan.displaced)?));
        }
        batch.extend(for_each_piece(self.places(), |json| Statement::new(PLACE).bind(json))?);
        // Behind all the moves: one may take out of a tree what would be too deep in it.
        batch.extend(depth(&plan.deeper)?);
        for over in &plan.overs {
            batch.extend(over.statements(self.now, &self.read.caller.account));
        }
        if plan.overs.iter().any(|over| !over.moves) {
            batch.push(quota(self.space));
        }
        let parents = "update nodes set modified_at = ?2 where id in (select value from json_each(?1))";
        batch.push(Statement::new(parents).bind(manifest::to_json(&plan.parents)?).bind(self.now));
        let placed_folders = plan.places.iter().filter(|(_, entry)| entry.is_folder).map(|(id, _)| id);
        let saved_in = plan.overs.iter().map(|over| &over.folder);
        let folders: Vec<&str> =
            plan.parents.iter().chain(placed_folders).chain(saved_in).map(String::as_str).collect();
        batch.extend(record(self.space, self.now, &self.changes(), &folders)?);
        batch.extend(self.last.iter().cloned());
        Ok(batch)
    }

    /// What the operations come to for each node.
    fn changes(&self) -> Vec<Record<'_>> {
        let change = |(id, after): &'_ &(String, Entry)| -> (What, Option<&str>) {
            let Some(before) = self.plan.before.get(id) else { return (What::Created, None) };
            match (before.trashed_at, after.trashed_at) {
                (Some(_), None) => (What::Restored, None),
                (None, Some(_)) => (What::Deleted, Some(before.parent.as_str())),
                (Some(_), Some(_)) => (What::Deleted, None),
                (None, None) => (What::Moved, Some(before.parent.as_str())),
            }
        };
        let record = |place| {
            let (what, from) = change(&place);
            let (id, after) = place;
            Record { what, id, is_folder: after.is_folder, subtree: after.is_folder, from }
        };
        let saved = self.plan.overs.iter().flat_map(Over::changes);
        let purged = self.read.expired.iter().map(trash::Top::purged);
        self.plan.places.iter().map(record).chain(saved).chain(purged).collect()
    }

    /// Of a copy that a job is to build: what an ordinary one would be refused for by now, then its top, which gets the id
    /// `top`, under the hidden root `root`, without what is to be in it.
    pub(super) fn begin(&self, copied: &Copied, top: &str, root: &str) -> Result<Vec<Statement>> {
        let mut batch = self.guards()?;
        batch.extend(locks::guards(self.token, self.space, self.now, &self.plan.touched())?);
        let copies = copies_as_json(&[&Copied { alone: true, ..copied.clone() }])?;
        let on_copies = |sql: &'static str| Statement::new(sql).bind(copies.as_str());
        let hide =
            "update nodes set parent_id = ?2, name_nfc = (select s.name_nfc from nodes s where s.id = ?3)
              where id = ?1";
        batch.extend([
            on_copies(COPY_NODES).bind(self.now),
            on_copies(COPY_PROPERTIES),
            Statement::new(hide).bind(top).bind(root).bind(copied.source.as_str()),
        ]);
        Ok(batch)
    }

    fn guards(&self) -> Result<Vec<Statement>> {
        let plan = self.plan;
        let access =
            format!("insert into guard (why) select 'access_gone' where not {}", auth::STILL_WRITES_NODES);
        let access = Statement::new(access).bind(self.token.hash().to_string()).bind(self.space);
        let mut guards = vec![access.bind(self.now).bind(self.read.caller.folder.as_deref())];
        let entries = plan.before.iter().map(|(id, entry)| {
            let (version, state) = (plan.versions.get(id), plan.states.get(id));
            let trashed_at = entry.trashed_at.map(|at| at.0);
            (id, &entry.parent, &entry.name, trashed_at, version, &entry.trashed_from, state)
        });
        guards.extend(for_each_piece(entries, |json| Statement::new(UNCHANGED).bind(self.space).bind(json))?);
        Ok(guards)
    }

    fn copies(&self) -> Result<Vec<Statement>> {
        let copies = copies_as_json(&self.plan.copies.iter().collect::<Vec<_>>())?;
        let on_copies = |sql: &'static str| Statement::new(sql).bind(copies.as_str());
        Ok(vec![
            on_copies(COPY_LIMIT).bind(MAX_COPIED_NODES),
            on_copies(COPY_BYTES).bind(self.space),
            quota(self.space),
            on_copies(COPY_NODES).bind(self.now),
            on_copies(COPY_PROPERTIES),
            on_copies(COPY_VERSIONS).bind(self.now).bind(&self.read.caller.account),
        ])
    }

    fn places(&self) -> impl Iterator<Item = impl serde::Serialize> {
        self.plan.places.iter().map(|(id, entry)| {
            let trashed_at = entry.trashed_at.map(|at| at.0);
            (id, &entry.parent, &entry.name, &entry.nfc, trashed_at, &entry.trashed_from)
        })
    }
}

fn copies_as_json(copies: &[&Copied]) -> Result<String> {
    let row = |copied: &&Copied| {
        (copied.source.clone(), copied.head.clone(), copied.version_head.clone(), copied.mask, copied.alone)
    };
    manifest::to_json(&copies.iter().map(row).collect::<Vec<_>>())
}

/// Refuses trees that would reach too deep, given the tops with the depth that each will have.
fn depth(trees: &[(String, usize)]) -> Result<Option<Statement>> {
    if trees.is_empty() {
        return Ok(None);
    }
    Ok(Some(Statement::new(DEPTH).bind(manifest::to_json(&trees)?).bind(MAX_DEPTH as u64)))
}

/// Refuses what has grown beyond the space's quota by now.
pub(crate) fn quota(space: &SpaceId) -> Statement {
    Statement::new(QUOTA).bind(space)
}

pub(super) fn refusal(error: DbError) -> Refused {
    let DbError::Violated(why) = &error else {
        return match error {
            // Somebody else took a name that was free.
            DbError::Duplicate(_) => Refused::TreeChanged,
            error => Refused::For(error.into()),
        };
    };
    Refused::For(match why.as_str() {
        // Whoever may not write any more is told so when the tree is read again.
        "tree_changed" | "access_gone" => return Refused::TreeChanged,
        "locked" => return Refused::Locked,
        "if_failed" => Error::PreconditionFailed,
        "quota_exceeded" => Error::QuotaExceeded,
        "too_deep" => Error::Conflict(Conflict::TooDeep),
        "too_many_nodes" => Error::TooManyNodes { verb: Verb::Copy.name(), limit: MAX_COPIED_NODES },
        _ => error.into(),
    })
}
