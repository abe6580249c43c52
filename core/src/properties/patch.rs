//! Setting and removing dead properties, and the modification time with them.

use super::Dead;
use crate::auth::{self, Right};
use crate::changes::{Record, What, record};
use crate::error::{Conflict, Error, Result};
use crate::ids::NodeId;
use crate::locks::{self, Touched};
use crate::manifest;
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Platform, Row, Rows, Statement, Timestamp};
use crate::tree::{Address, Kind, LIVES, Node, Resolved, resolve};

/// The most properties of a node.
pub const MAX_PROPERTIES: usize = 100;
/// The most bytes of a node's properties, with their names: a page of a listing stays small.
pub const MAX_PROPERTIES_BYTES: usize = 32 * 1024;

/// Changes to a node's properties: all or none.
#[derive(Debug, Clone)]
pub struct Patch {
    /// Whose request, and about which node.
    pub address: Address,
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// When the content is said to have changed.
    pub modified_at: Option<Timestamp>,
}

/// A change of one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It has this value now.
    Set(Dead),
    /// It is gone, if it was there.
    Remove {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// What became of a [`Patch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patched {
    /// All of it was done.
    Done {
        /// Whether it is a folder's.
        is_folder: bool,
    },
    /// Nothing was: the node would have too many properties, or too large ones.
    Full,
}

/// After so many lost races something else is wrong.
const ATTEMPTS: usize = 20;

/// Applies the changes. Two round trips.
pub async fn patch<P: Platform>(platform: &P, patch: &Patch) -> Result<Patched> {
    for _ in 0..ATTEMPTS {
        if let Some(patched) = attempt(platform, patch).await? {
            return Ok(patched);
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// None where what was read has changed before the commit.
async fn attempt<P: Platform>(platform: &P, patch: &Patch) -> Result<Option<Patched>> {
    let (address, now) = (&patch.address, platform.host().now());
    let there = Statement::new(super::read::DEAD).bind(&address.space).bind(address.way());
    let mut batch =
        vec![auth::look_up_at(address, now), resolve(address), there.bind(address.path.depth() as u64)];
    batch.extend(locks::look(address, now));
    let results: Vec<Rows> = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Write)?;
    let node = Resolved::existing(rows(1), address)?;
    let parent = Resolved::read(rows(1), address)?.parent;
    locks::check(&address.token, rows(3), rows(4))?;
    let is_folder = node.kind == Kind::Folder;
    if patch.changes.is_empty() && patch.modified_at.is_none() {
        return Ok(Some(Patched::Done { is_folder }));
    }
    let after = after(rows(2), &patch.changes)?;
    let bytes: usize = after.iter().map(Dead::len).sum();
    if after.len() > MAX_PROPERTIES || bytes > MAX_PROPERTIES_BYTES {
        return Ok(Some(Patched::Full));
    }
    let commit = Commit { patch, node: &node, parent: parent.as_ref(), now, after };
    match commit.run(platform).await {
        Ok(()) => Ok(Some(Patched::Done { is_folder })),
        // Whoever may not write any more is told so when the node is read again.
        Err(DbError::Violated(why))
            if matches!(why.as_str(), "access_gone" | "target_changed" | "locked" | "if_failed") =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// What the node will have, by the order of the changes.
fn after(rows: &[Row], changes: &[Change]) -> Result<Vec<Dead>> {
    let mut after = rows.iter().map(Dead::read).collect::<Result<Vec<_>>>()?;
    for change in changes {
        let (namespace, name) = match change {
            Change::Set(dead) => (&dead.namespace, &dead.name),
            Change::Remove { namespace, name } => (namespace, name),
        };
        after.retain(|dead| (&dead.namespace, &dead.name) != (namespace, name));
        if let Change::Set(dead) = change {
            after.push(dead.clone());
        }
    }
    Ok(after)
}

/// All of a node's properties, in their places.
struct Commit<'a> {
    patch: &'a Patch,
    node: &'a Node,
    parent: Option<&'a NodeId>,
    now: Timestamp,
    after: Vec<Dead>,
}

impl Commit<'_> {
    async fn run<P: Platform>(&self, platform: &P) -> Result<(), DbError> {
        let batch = self.statements().map_err(|error| DbError::Rejected(error.to_string()))?;
        // The same changes twice are the same as once.
        let happened = async || Ok(false);
        write_once(platform.db(), batch, happened).await
    }

    fn statements(&self) -> Result<Vec<Statement>> {
        let (address, node) = (&self.patch.address, self.node);
        let version = match &node.kind {
            Kind::File(version) => Some(&version.id),
            Kind::Folder => None,
        };
        let guard = Statement::new(format!(
            "insert into guard (why) select why from (select case
               when not {} then 'access_gone'
               when not {LIVES} or (select version_id from nodes where id = ?4) is not ?5 then 'target_changed'
             end as why) where why is not null",
            auth::STILL_WRITES_IN,
        ));
        let mut batch = vec![
            guard
                .bind(address.token.hash().to_string())
                .bind(&address.space)
                .bind(self.now)
                .bind(&node.id)
                .bind(version),
        ];
        let touched = Touched::node(&node.id);
        batch.extend(locks::guards(&address.token, &address.space, self.now, &touched)?);
        batch.extend(self.properties()?);
        if let Some(modified_at) = self.patch.modified_at {
            let nodes = Statement::new("update nodes set modified_at = ?2 where id = ?1");
            batch.push(nodes.bind(&node.id).bind(modified_at));
            if let Some(version) = version {
                let versions = Statement::new("update versions set modified_at = ?2 where id = ?1");
                batch.push(versions.bind(version).bind(modified_at));
            }
        }
        let is_folder = node.kind == Kind::Folder;
        let change = Record { is_folder, ..Record::of_file(What::Updated, node.id.as_str()) };
        // Entity tags tell of times, which listings show, and not of dead properties.
        let shown_in = self.parent.into_iter().chain(is_folder.then_some(&node.id));
        let shown_in: Vec<&str> =
            shown_in.filter(|_| self.patch.modified_at.is_some()).map(NodeId::as_str).collect();
        batch.extend(record(&address.space, self.now, &[change], &shown_in)?);
        Ok(batch)
    }

    /// Only what is named changes, so that two clients with different properties don't undo each other; a race beyond the
    /// limits is decided again.
    fn properties(&self) -> Result<Vec<Statement>> {
        let named: Vec<(&str, &str)> = self
            .patch
            .changes
            .iter()
            .map(|change| match change {
                Change::Set(dead) => (dead.namespace.as_str(), dead.name.as_str()),
                Change::Remove { namespace, name } => (namespace.as_str(), name.as_str()),
            })
            .collect();
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let set: Vec<(&str, &str, &str)> = self
            .after
            .iter()
            .filter(|dead| named.contains(&(dead.namespace.as_str(), dead.name.as_str())))
            .map(|dead| (dead.namespace.as_str(), dead.name.as_str(), dead.xml.as_str()))
            .collect();
        let remove = Statement::new(
            "delete from properties where node = (select n from nodes where id = ?1) and exists (
               select 1 from json_each(?2) e where json_extract(e.value, '$[0]') = properties.namespace
                  and json_extract(e.value, '$[1]') = properties.name)",
        );
        let insert = Statement::new(
            "insert into properties (node, namespace, name, xml)
             select n.n, json_extract(e.value, '$[0]'), json_extract(e.value, '$[1]'), json_extract(e.value, '$[2]')
               from json_each(?2) e cross join nodes n on n.id = ?1",
        );
        let limits = Statement::new(
            "insert into guard (why) select 'target_changed' where exists (
               select 1 from properties where node = (select n from nodes where id = ?1) group by node
               having count(*) > ?2 or sum(length(namespace) + length(name) + length(xml)) > ?3)",
        );
        Ok(vec![
            remove.bind(&self.node.id).bind(manifest::to_json(&named)?),
            insert.bind(&self.node.id).bind(manifest::to_json(&set)?),
            limits.bind(&self.node.id).bind(MAX_PROPERTIES as u64).bind(MAX_PROPERTIES_BYTES as u64),
        ])
    }
}
