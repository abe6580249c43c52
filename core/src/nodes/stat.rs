//! What a node is and where, by its id or by its path.

use super::Target;
use crate::auth::{self, Right, in_scope, scope};
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Statement};
use crate::token::Token;
use crate::tree::{Address, Entry, entry_columns, walk};

/// A node and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The node.
    pub entry: Entry,
    /// The names from the space's root.
    pub path: Vec<String>,
}

/// The node at the beginning of `up`, which goes up to the root, and the names on the way.
macro_rules! with_way {
    ($seed:literal) => {
        concat!(
            ", up (id, parent_id, name, distance) as (
                 select s.id, s.parent_id, s.name, 0 from ",
            $seed,
            " and s.trashed_at is null
                 union all
                 select s.id, s.parent_id, s.name, u.distance + 1
                   from up u cross join nodes s where s.id = u.parent_id and s.trashed_at is null
             ) select ",
            entry_columns!(),
            ", (select json_group_array(u.name order by u.distance desc) from up u where u.parent_id <> '') as path
                 from up cross join nodes n on n.id = up.id
                 left join versions v on v.id = n.version_id
                 left join blobs b on b.id = v.blob_id
                where up.distance = 0"
        )
    };
}

const BY_ID: &str = concat!(
    "with recursive ",
    scope!(),
    with_way!("scope cross join nodes s where s.id = ?3 and s.space_id = ?1"),
    " and exists (select 1 from scope where ",
    in_scope!("?3"),
    ")"
);

const AT: &str = concat!(walk!(), with_way!("walk w cross join nodes s where w.depth = ?3 and s.id = w.id"));

/// Finds a living node, authorised to read. One round trip.
pub async fn stat<P: Platform>(platform: &P, token: &Token, space: &SpaceId, node: &Target) -> Result<Stat> {
    let now = platform.host().now();
    let at = |base, path| {
        let address = Address { token: token.clone(), space: space.clone(), base, path };
        let find = Statement::new(AT).bind(space).bind(address.way()).bind(address.path.depth() as u64);
        vec![auth::look_up_at(&address, now), find]
    };
    let batch = match node {
        Target::Id(id) => {
            let find = Statement::new(BY_ID).bind(space).bind(token.hash().to_string()).bind(id);
            vec![auth::look_up_nodes(token, space, now), find]
        }
        Target::Path(path) => at(None, path.clone()),
        Target::Below(base, path) => at(Some(base.clone()), path.clone()),
    };
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let caller = auth::authorise(rows().first(), Right::Read)?;
    let rows = rows();
    let row = rows.first().ok_or(Error::NotFound)?;
    let mut entry = Entry::read(row)?;
    if caller.folder.as_deref() == Some(entry.id.as_str()) {
        entry.parent = None;
    }
    Ok(Stat { entry, path: manifest::from_json(row.text("path")?)? })
}
