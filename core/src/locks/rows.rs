//! Locks as rows.

use super::{Depth, Scope};
use crate::error::{Error, Result};
use crate::ids::{AccountId, LockId, NodeId};
use crate::manifest;
use crate::ports::{DbError, Row, Timestamp};
use crate::tree::id;

/// A lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// Its id.
    pub id: LockId,
    /// What it is on.
    pub node: NodeId,
    /// Whom it keeps out.
    pub scope: Scope,
    /// How far down it reaches.
    pub depth: Depth,
    /// Whose it is, in the words of the client: an `owner` element of XML.
    pub owner: Option<String>,
    /// Whose it is.
    pub account: AccountId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends, unless it is refreshed.
    pub expires_at: Timestamp,
    /// Where what it is on stands.
    pub root: Root,
}

/// Where the locked node stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The names that lead to it from the folder that the asking token is limited to, or from the space's root. None
    /// where it lies above that folder.
    pub names: Option<Vec<String>>,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// The columns that [`Lock::read`] takes, of the lock `lk` in the space ?1, for the token ?3.
macro_rules! columns {
    () => {
        "lk.id, lk.node_id, lk.scope, lk.depth, lk.owner, lk.account_id, lk.created_at, lk.expires_at,
         (select n.kind from nodes n where n.id = lk.node_id) as kind,
         (with recursive top (id) as (
            select coalesce(k.folder_id, s.root_id) from tokens k cross join spaces s where k.hash = ?3 and s.id = ?1
          ), above (id, parent_id, name, height) as (
            select n.id, n.parent_id, n.name, 0 from nodes n where n.id = lk.node_id
            union all
            select n.id, n.parent_id, n.name, a.height + 1 from above a cross join nodes n
             where n.id = a.parent_id and a.id not in (select id from top)
          ) select case when max(a.id in (select id from top))
                        then json_group_array(a.name order by a.height desc)
                             filter (where a.id not in (select id from top)) end
              from above a) as path"
    };
}
pub(super) use columns;

impl Lock {
    /// Reads a row of the columns.
    pub(super) fn read(row: &Row) -> Result<Self> {
        let unknown =
            |column| Error::from(DbError::Rejected(format!("column {column} of a lock is malformed")));
        Ok(Self {
            id: id(row, "id", LockId::parse)?,
            node: id(row, "node_id", NodeId::parse)?,
            scope: match row.text("scope")? {
                "exclusive" => Scope::Exclusive,
                "shared" => Scope::Shared,
                _ => return Err(unknown("scope")),
            },
            depth: match row.text("depth")? {
                "0" => Depth::Zero,
                "infinity" => Depth::Infinity,
                _ => return Err(unknown("depth")),
            },
            owner: row.text_or_null("owner")?.map(str::to_owned),
            account: id(row, "account_id", AccountId::parse)?,
            created_at: Timestamp(row.integer("created_at")?),
            expires_at: Timestamp(row.integer("expires_at")?),
            root: Root {
                names: row.text_or_null("path")?.map(manifest::from_json).transpose()?,
                is_folder: row.text("kind")? == "folder",
            },
        })
    }

    /// Reads rows of the columns.
    pub(super) fn read_all(rows: &[Row]) -> Result<Vec<Self>> {
        rows.iter().map(Self::read).collect()
    }
}

impl std::fmt::Display for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.names {
            Some(names) => write!(f, "/{}", names.join("/")),
            None => f.write_str("a folder above"),
        }
    }
}
