//! Making a folder, and those above it that are missing.

use crate::auth::{self, Right};
use crate::changes::{Record, What, record};
use crate::conditions::{Conditions, Current, Verdict};
use crate::error::{Conflict, Error, Result};
use crate::ids::NodeId;
use crate::locks::{self, Touched};
use crate::manifest;
use crate::once::write_once_for;
use crate::path::Name;
use crate::ports::{Db, DbError, Host, Platform, Rows, Statement, Timestamp};
use crate::tree::{self, Address, Kind, Node, deepest, resolve};

/// Which folder to make.
#[derive(Debug, Clone)]
pub struct Create {
    /// Where.
    pub address: Address,
    /// Whether folders that are missing on the way are made too.
    pub parents: bool,
    /// The conditions on what is there.
    pub conditions: Conditions,
}

impl Create {
    /// The folder at the address alone, without conditions.
    pub fn at(address: &Address) -> Self {
        Self { address: address.clone(), parents: false, conditions: Conditions::default() }
    }
}

/// The folder at the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The folder.
    pub node: Node,
    /// Whether it is new.
    pub new: bool,
}

/// After so many lost races something else is wrong.
const ATTEMPTS: usize = 20;

/// Makes the folder at the address; one that is there already will do, if the conditions hold. Two round trips, however
/// many are missing above it, and all are made or none. Of two that make the same folder at once, one finds the other's.
pub async fn create<P: Platform>(platform: &P, request: &Create) -> Result<Created> {
    for _ in 0..ATTEMPTS {
        if let Some(created) = attempt(platform, request).await? {
            return Ok(created);
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// None where what was read has changed before the commit: somebody else made the folder, say.
async fn attempt<P: Platform>(platform: &P, request: &Create) -> Result<Option<Created>> {
    let (host, address) = (platform.host(), &request.address);
    let now = host.now();
    let mut batch = vec![auth::look_up_at(address, now), resolve(address)];
    batch.extend(locks::look(address, now));
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Write)?;
    let (depth, above) = deepest(rows(1))?.ok_or(Error::NotFound)?;
    let missing = address.path.names().get(depth..).unwrap_or_default();
    let found = match (&above.kind, missing) {
        (Kind::File(_), []) => return Err(Error::Conflict(Conflict::IsAFile)),
        (Kind::File(_), _) => return Err(Error::Conflict(Conflict::NotAFolder)),
        (Kind::Folder, [_, _, ..]) if !request.parents => {
            return Err(Error::Conflict(Conflict::ParentMissing));
        }
        (Kind::Folder, []) => Some(above.etag()),
        (Kind::Folder, _) => None,
    };
    let current = found.as_deref().map(|etag| Current { etag: Some(etag), modified_at: above.modified_at });
    if request.conditions.evaluate(current, false) != Verdict::Proceed {
        return Err(Error::PreconditionFailed);
    }
    if missing.is_empty() {
        return Ok(Some(Created { node: above, new: false }));
    }
    locks::check(&address.token, rows(2), rows(3))?;
    let commit = Commit::new(host, address, &above.id, missing, now);
    let Some((last, ..)) = commit.folders.last() else { return Ok(None) };
    let happened = async || -> Result<Option<u64>, DbError> {
        let look = Statement::new("select changed_seq from nodes where id = ?1").bind(last);
        let results = platform.db().read(vec![look]).await?;
        results.first().and_then(|rows| rows.first()).map(|row| row.unsigned("changed_seq")).transpose()
    };
    match write_once_for(platform.db(), commit.statements()?, change_seq, happened).await {
        Ok(changed_seq) => {
            let (id, kind) = (last.clone(), Kind::Folder);
            let node = Node { id, created_at: now, modified_at: now, changed_seq, kind };
            Ok(Some(Created { node, new: true }))
        }
        Err(DbError::Violated(why))
            if matches!(why.as_str(), "access_gone" | "parent_gone" | "locked" | "if_failed") =>
        {
            Ok(None)
        }
        Err(DbError::Duplicate(what)) if what.contains("nodes.name_nfc") => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The commit's number, among its rows.
fn change_seq(results: &[Rows]) -> Result<u64, DbError> {
    let row = results.iter().flatten().find(|row| row.value("change_seq").is_some());
    row.ok_or_else(|| DbError::Rejected("a commit without a number".to_owned()))?.unsigned("change_seq")
}

/// New folders, one below the other. Their ids are chosen before, so that a lost answer can be resolved.
struct Commit<'a> {
    address: &'a Address,
    /// The folder that the first one goes into.
    above: &'a NodeId,
    folders: Vec<(NodeId, NodeId, &'a Name)>,
    now: Timestamp,
}

impl<'a> Commit<'a> {
    fn new(
        host: &impl Host,
        address: &'a Address,
        above: &'a NodeId,
        names: &'a [Name],
        now: Timestamp,
    ) -> Self {
        let mut parent = above.clone();
        let folder = |name| {
            let id = NodeId::new(host);
            (id.clone(), std::mem::replace(&mut parent, id), name)
        };
        Self { address, above, folders: names.iter().map(folder).collect(), now }
    }

    fn statements(&self) -> Result<Vec<Statement>> {
        let guard = Statement::new(format!(
            "insert into guard (why) select why from (select case
               when not {} then 'access_gone'
               when not {} then 'parent_gone'
             end as why) where why is not null",
            auth::STILL_WRITES_IN,
            tree::PARENT_LIVES_FOR_MORE
        ))
        .bind(self.address.token.hash().to_string())
        .bind(&self.address.space)
        .bind(self.now)
        .bind(self.above)
        .bind(self.folders.len() as u64);
        let rows: Vec<_> = (self.folders.iter())
            .map(|(id, parent, name)| (id.as_str(), parent.as_str(), name.as_str(), name.nfc()))
            .collect();
        let nodes = Statement::new(
            "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
             select json_extract(value, '$[0]'), ?2, json_extract(value, '$[1]'), json_extract(value, '$[2]'),
                    json_extract(value, '$[3]'), 'folder', ?3, ?3 from json_each(?1)",
        )
        .bind(manifest::to_json(&rows)?)
        .bind(&self.address.space)
        .bind(self.now);
        let above = Statement::new("update nodes set modified_at = ?2 where id = ?1");
        let (address, touched) = (self.address, Touched::node(self.above));
        let mut batch = vec![guard];
        batch.extend(locks::guards(&address.token, &address.space, self.now, &touched)?);
        batch.extend([nodes, above.bind(self.above).bind(self.now)]);
        let changes: Vec<Record<'_>> = (self.folders.iter())
            .map(|(id, ..)| Record {
                what: What::Created,
                id: id.as_str(),
                is_folder: true,
                subtree: false,
                from: None,
            })
            .collect();
        let mut changed = vec![self.above.as_str()];
        changed.extend(self.folders.iter().map(|(id, ..)| id.as_str()));
        batch.extend(record(&self.address.space, self.now, &changes, &changed)?);
        Ok(batch)
    }
}
