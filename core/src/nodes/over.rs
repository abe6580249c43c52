//! A file that is saved over another: programs that save safely write a new file and move it over the old one, and its
//! history must not end with each save.

use crate::changes::{Record, What};
use crate::ids::{AccountId, NodeId};
use crate::ports::{Statement, Timestamp};
use crate::versions::remove_excess;

/// One file's content becomes the other's next version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Over {
    /// The file that stays.
    pub(super) onto: NodeId,
    /// The one whose content it gets.
    pub(super) from: String,
    /// The version that it will have: the other's own where that is moved, else a new one.
    pub(super) version: String,
    /// Whether the other goes: its versions with it, to the file that stays.
    pub(super) moves: bool,
    /// Where the other was.
    pub(super) from_folder: String,
    /// Where the file is.
    pub(super) folder: String,
}

/// The version ?3 becomes the newest of the file ?1, whatever the clocks say.
const RENEW: &str = "update versions set created_at =
        max(?2, created_at, coalesce((select max(o.created_at) + 1 from versions o where o.node_id = ?1), 0))
      where id = ?3";

/// A version of the file ?1 with the content of the file ?2.
const COPY_VERSION: &str = "insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
     select ?3, ?1, v.blob_id, ?5,
            max(?4, coalesce((select max(created_at) + 1 from versions where node_id = ?1), 0)), v.modified_at
       from nodes n cross join versions v on v.id = n.version_id where n.id = ?2";

/// What it adds to the space.
const COPY_BYTES: &str = "update spaces set used_bytes = used_bytes + (
        select b.size_bytes from versions v cross join blobs b on b.id = v.blob_id where v.id = ?2)
      where id = (select space_id from nodes where id = ?1)";

/// The file ?1 has the version ?2 now.
const SHOW: &str =
    "update nodes set version_id = ?2, modified_at = (select modified_at from versions where id = ?2)
      where id = ?1";

/// The file ?1 gets the dead properties of the file ?2.
const COPY_PROPERTIES: &str = "insert into properties (node, namespace, name, xml)
     select (select n from nodes where id = ?1), prop.namespace, prop.name, prop.xml
       from nodes n cross join properties prop on prop.node = n.n where n.id = ?2";

impl Over {
    /// Statements of a commit, when all else has its place.
    pub(super) fn statements(&self, now: Timestamp, account: &AccountId) -> Vec<Statement> {
        let (onto, from, version) = (self.onto.as_str(), self.from.as_str(), self.version.as_str());
        let mut statements = if self.moves {
            vec![
                Statement::new(RENEW).bind(onto).bind(now).bind(version),
                Statement::new("update versions set node_id = ?1 where node_id = ?2").bind(onto).bind(from),
            ]
        } else {
            let copy = Statement::new(COPY_VERSION).bind(onto).bind(from).bind(version);
            vec![copy.bind(now).bind(account), Statement::new(COPY_BYTES).bind(onto).bind(version)]
        };
        let forget = "delete from properties where node = (select n from nodes where id = ?1)";
        statements.extend([
            Statement::new(SHOW).bind(onto).bind(version),
            Statement::new(forget).bind(onto),
            Statement::new(COPY_PROPERTIES).bind(onto).bind(from),
        ]);
        if self.moves {
            statements.push(Statement::new("delete from nodes where id = ?1").bind(from));
        }
        statements.extend(remove_excess(&self.onto, now));
        statements
    }

    /// Whether it happened.
    pub(super) fn placed(&self) -> Statement {
        let placed = "select count(*) as placed from nodes where id = ?1 and version_id = ?2";
        Statement::new(placed).bind(self.onto.as_str()).bind(self.version.as_str())
    }

    /// What becomes of both.
    pub(super) fn changes(&self) -> Vec<Record<'_>> {
        let saved = Record::of_file(What::Updated, self.onto.as_str());
        let gone = Record { from: Some(&self.from_folder), ..Record::of_file(What::Purged, &self.from) };
        [saved].into_iter().chain(self.moves.then_some(gone)).collect()
    }
}
