//! Making a folder.

use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::NodeId;
use crate::locks::{self, Touched};
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::tree::{self, Address, Kind, Node, Resolved, resolve};

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

/// Makes the folder at the address, whose parent must be there; one that is there already will do. Two round trips.
pub async fn create<P: Platform>(platform: &P, address: &Address) -> Result<Created> {
    for _ in 0..ATTEMPTS {
        if let Some(created) = attempt(platform, address).await? {
            return Ok(created);
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// None where what was read has changed before the commit: somebody else made the folder, say.
async fn attempt<P: Platform>(platform: &P, address: &Address) -> Result<Option<Created>> {
    let now = platform.host().now();
    let mut batch = vec![auth::look_up_at(address, now), resolve(address)];
    batch.extend(locks::look(address, now));
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Write)?;
    let resolved = Resolved::read(rows(1), address)?;
    let (parent, name) = match (resolved.node, resolved.parent, address.path.last()) {
        (Some(Node { kind: Kind::File(_), .. }), ..) => return Err(Error::Conflict(Conflict::IsAFile)),
        (Some(node), ..) => return Ok(Some(Created { node, new: false })),
        (None, Some(parent), Some(name)) => (parent, name),
        (None, ..) => return Err(Error::NotFound),
    };
    locks::check(&address.token, rows(2), rows(3))?;
    let id = NodeId::new(platform.host());
    let guard = Statement::new(format!(
        "insert into guard (why) select why from (select case
           when not {} then 'access_gone'
           when not {} then 'parent_gone'
         end as why) where why is not null",
        auth::STILL_WRITES_IN,
        tree::PARENT_LIVES
    ))
    .bind(address.token.hash().to_string())
    .bind(&address.space)
    .bind(now)
    .bind(&parent);
    let node = Statement::new(
        "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
         values (?1, ?2, ?3, ?4, ?5, 'folder', ?6, ?6)",
    )
    .bind(&id)
    .bind(&address.space)
    .bind(&parent)
    .bind(name.as_str())
    .bind(name.nfc())
    .bind(now);
    let touched = Touched::node(&parent);
    let parent = Statement::new("update nodes set modified_at = ?2 where id = ?1").bind(&parent).bind(now);
    let space =
        Statement::new("update spaces set change_seq = change_seq + 1 where id = ?1").bind(&address.space);
    let mut batch = vec![guard];
    batch.extend(locks::guards(&address.token, &address.space, now, &touched)?);
    batch.extend([node, parent, space]);
    match platform.db().write(batch).await {
        Ok(_) => Ok(Some(Created {
            node: Node { id, created_at: now, modified_at: now, kind: Kind::Folder },
            new: true,
        })),
        Err(DbError::Violated(why))
            if matches!(why.as_str(), "access_gone" | "parent_gone" | "locked" | "if_failed") =>
        {
            Ok(None)
        }
        Err(DbError::Duplicate(what)) if what.contains("nodes.name_nfc") => Ok(None),
        Err(error) => Err(error.into()),
    }
}
