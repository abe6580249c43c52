//! What a request says of the states that it expects: WebDAV's `If` header (RFC 4918 section 10.4), as core takes it.
//!
//! It is decided in SQL, so that the same words can refuse a request before its body is read, and guard its commit.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::{LockId, NodeId, SpaceId};
use crate::path::{Name, Path};
use crate::ports::{Statement, Timestamp};

/// Lock tokens and conditions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Submitted {
    /// Every lock token that was named, in whatever place.
    pub tokens: Vec<LockId>,
    /// One of these must hold. None: no condition was made.
    pub lists: Vec<List>,
}

/// Conditions on one resource, which must all hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// The resource; None where it is none of ours, and so without any state.
    pub resource: Option<Resource>,
    /// What must hold.
    pub conditions: Vec<Condition>,
}

/// A place in the space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// The folder where the path begins; None for the space's root.
    pub base: Option<NodeId>,
    /// The path.
    pub path: Path,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Whether the state must not be there.
    pub not: bool,
    /// The state.
    pub state: State,
}

/// A state that a resource may be in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Covered by this lock.
    Lock(LockId),
    /// Having this strong entity tag, without quotes.
    Etag(String),
    /// In a state that no resource is ever in: `DAV:no-lock`, foreign tokens, weak tags.
    Never,
}

/// Whether one of the lists of ?2, `[[[not, kind, value], …], …]`, holds at the time ?4. ?3 has the resource of each:
/// `{"base", "names"}`, or null. A folder's entity tag is that of [`crate::tree::folder_etag`].
macro_rules! holds {
    () => {
        "(with recursive at (list, names, depth, id) as (
            select key, json_extract(value, '$.names'), 0,
                   coalesce(json_extract(value, '$.base'), (select root_id from spaces where id = ?1))
              from json_each(?3) where type = 'object'
            union all
            select a.list, a.names, a.depth + 1, n.id from at a cross join nodes n
             where n.parent_id = a.id and n.name_nfc = json_extract(a.names, '$[' || a.depth || ']')
               and n.trashed_at is null
          ), over (list, id) as (
            select a.list, n.parent_id from at a cross join nodes n on n.id = a.id where a.depth = 0
            union all
            select o.list, n.parent_id from over o cross join nodes n on n.id = o.id
          ), state (list, kind, value) as (
            select a.list, 'lock', lk.id from at a cross join locks lk on lk.node_id = a.id
             where lk.expires_at > ?4 and (lk.depth = 'infinity' or a.depth = json_array_length(a.names))
            union all
            select o.list, 'lock', lk.id from over o cross join locks lk on lk.node_id = o.id
             where lk.expires_at > ?4 and lk.depth = 'infinity'
            union all
            select a.list, 'etag', coalesce(b.etag, n.id || '-' || n.changed_seq)
              from at a cross join nodes n on n.id = a.id
              left join versions v on v.id = n.version_id left join blobs b on b.id = v.blob_id
             where a.depth = json_array_length(a.names)
          ) select exists (
            select 1 from json_each(?2) e where not exists (
              select 1 from json_each(e.value) c where json_extract(c.value, '$[0]') = exists (
                select 1 from state st where st.list = e.key and st.kind = json_extract(c.value, '$[1]')
                   and st.value = json_extract(c.value, '$[2]')))))"
    };
}

const LOOK: &str = concat!("select ", holds!(), " as holds");
const GUARD: &str = concat!("insert into guard (why) select 'if_failed' where not ", holds!());

impl Submitted {
    /// Asks whether the conditions hold; None where there are none.
    pub(super) fn look(&self, space: &SpaceId, now: Timestamp) -> Option<Statement> {
        (!self.lists.is_empty()).then(|| self.bind(LOOK, space, now))
    }

    /// Refuses a batch, by `if_failed`, where they don't; None where there are none.
    pub(super) fn guard(&self, space: &SpaceId, now: Timestamp) -> Option<Statement> {
        (!self.lists.is_empty()).then(|| self.bind(GUARD, space, now))
    }

    fn bind(&self, sql: &'static str, space: &SpaceId, now: Timestamp) -> Statement {
        let lists = self.lists.iter().map(|list| Value::from_iter(list.conditions.iter().map(condition)));
        let resources = self.lists.iter().map(|list| list.resource.as_ref().map_or(Value::Null, resource));
        Statement::new(sql)
            .bind(space)
            .bind(Value::from_iter(lists).to_string())
            .bind(Value::from_iter(resources).to_string())
            .bind(now)
    }

    /// The tokens as a JSON array.
    pub(super) fn tokens(&self) -> String {
        Value::from_iter(self.tokens.iter().map(LockId::as_str)).to_string()
    }
}

fn condition(condition: &Condition) -> Value {
    match &condition.state {
        State::Lock(id) => json!([condition.not, "lock", id.as_str()]),
        State::Etag(etag) => json!([condition.not, "etag", etag]),
        State::Never => json!([condition.not, "never", null]),
    }
}

fn resource(resource: &Resource) -> Value {
    let names = resource.path.names().iter().map(Name::nfc).collect::<Vec<_>>();
    json!({ "base": resource.base.as_ref().map(NodeId::as_str), "names": names })
}
