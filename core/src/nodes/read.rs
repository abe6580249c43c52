//! The first round trip: who asks, which nodes the operations speak of, and all that are above them.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::decide::Copied;
use super::view::View;
use super::{Operation, Target, Verb};
use crate::auth::{self, Caller, Right};
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::path::Path;
use crate::ports::{Db, Host, Platform, Row, Statement};
use crate::token::Token;
use crate::trash;

/// What an operation's targets were found to be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Found {
    /// The node.
    pub(super) node: Option<String>,
    /// The folder that it is to go to.
    pub(super) folder: Option<String>,
    /// What stands there under its name.
    pub(super) occupant: Option<String>,
    /// Whether the way there met the folder that the token is limited to, as far as it led.
    pub(super) met_scope: bool,
}

/// What was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) caller: Caller,
    /// By operation.
    pub(super) found: Vec<Found>,
    pub(super) view: View,
    /// What has expired in the trash and goes along with the commit, where that fills the trash.
    pub(super) expired: Vec<trash::Top>,
    /// The copy that the operation is to put in its place, where a job has built it.
    pub(super) built: Option<Copied>,
}

/// The walk of every target in the JSON array ?2, `[id, names, named like, place]`, in the space ?1: it starts at the
/// node `id`, or at the root where that is null; with `place` it starts at the folder that the node `id` is in, or
/// was before it was deleted. The names lead down from there; the last is that of the node `named like` where that
/// is not null. Each step searches one name (docs: `walk` in tree/resolve.rs).
macro_rules! walk_all {
    () => {
        "with recursive walk (target, names, depth, id) as (
            select key,
                   case when json_extract(value, '$[2]') is null then json_extract(value, '$[1]')
                        else json_insert(json_extract(value, '$[1]'), '$[#]',
                               (select name_nfc from nodes where id = json_extract(value, '$[2]'))) end,
                   0,
                   case when json_extract(value, '$[3]')
                          then (select coalesce(trashed_from, parent_id) from nodes
                                 where id = json_extract(value, '$[0]') and space_id = ?1)
                        else coalesce(json_extract(value, '$[0]'), (select root_id from spaces where id = ?1)) end
              from json_each(?2)
            union all
            select w.target, w.names, w.depth + 1, n.id from walk w cross join nodes n
             where n.parent_id = w.id and n.name_nfc = json_extract(w.names, '$[' || w.depth || ']')
               and n.trashed_at is null
        ) "
    };
}

/// Where each walk ended, if it came as far as the last name or the one before; and where it met the folder that the
/// token ?3 is limited to.
const ENDS: &str = concat!(
    walk_all!(),
    "select target, json_array_length(names) - depth as names_left, id from walk
      where json_array_length(names) - depth <= 1 or id = (select folder_id from tokens where hash = ?3)"
);

/// The nodes at those ends and all above them, each once. Above what is in the trash is where it was.
const ABOVE: &str = concat!(
    walk_all!(),
    ", up (id) as (
        select id from walk where json_array_length(names) - depth <= 1
        union
        select coalesce(n.trashed_from, n.parent_id) from up u cross join nodes n
         where n.id = u.id and n.space_id = ?1
    )
    select n.n, n.id, n.parent_id, n.name, n.name_nfc, n.kind, n.trashed_at, n.trashed_from, n.version_id,
           n.modified_at, n.changed_seq, b.etag
      from up u cross join nodes n on n.id = u.id
      left join versions v on v.id = n.version_id
      left join blobs b on b.id = v.blob_id
     where n.space_id = ?1"
);

/// Reads what the operations need to know. One round trip.
pub(super) async fn read<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    operations: &[Operation],
) -> Result<Read> {
    let targets = Value::from_iter(operations.iter().flat_map(targets)).to_string();
    let now = platform.host().now();
    let mut batch = vec![
        auth::look_up_nodes(token, space, now),
        Statement::new(ENDS).bind(space).bind(targets.as_str()).bind(token.hash().to_string()),
        Statement::new(ABOVE).bind(space).bind(targets),
    ];
    if operations.iter().any(|operation| operation.fills_trash()) {
        batch.push(trash::look(space, now));
    }
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let caller = auth::authorise(rows(0).first(), Right::Write)?;
    let found = found(rows(1), operations.len(), caller.folder.as_deref())?;
    Ok(Read { caller, found, view: View::read(rows(2))?, expired: trash::light(rows(3))?, built: None })
}

/// The two walks of an operation: to its node, and to its place.
fn targets(operation: &Operation) -> [Value; 2] {
    let names = |path: &Path| Value::from_iter(path.names().iter().map(|name| name.nfc()));
    let above = |path: &Path| path.names().split_last().map(|(_, above)| above.to_vec()).unwrap_or_default();
    let node = match &operation.node {
        Target::Id(id) => json!([id.as_str(), [], null, false]),
        Target::Path(path) => json!([null, names(path), null, false]),
        Target::Below(base, path) => json!([base.as_str(), names(path), null, false]),
    };
    if operation.verb == Verb::Delete {
        return [node.clone(), node];
    }
    let own_name = match &operation.node {
        Target::Path(path) | Target::Below(_, path) => path.last(),
        Target::Id(_) => None,
    };
    let (start, mut below, at_its_place) = match (&operation.to.parent, &operation.node) {
        (Some(Target::Id(id)), _) => (Some(id.as_str()), Vec::new(), false),
        (Some(Target::Path(path)), _) => (None, path.names().to_vec(), false),
        (Some(Target::Below(base, path)), _) => (Some(base.as_str()), path.names().to_vec(), false),
        (None, Target::Id(id)) => (Some(id.as_str()), Vec::new(), true),
        (None, Target::Path(path)) => (None, above(path), false),
        (None, Target::Below(base, path)) => (Some(base.as_str()), above(path), false),
    };
    let known = operation.to.name.as_ref().or(own_name);
    below.extend(known.cloned());
    let like = match (known, &operation.node) {
        (None, Target::Id(id)) => Some(id.as_str()),
        _ => None,
    };
    let below = Value::from_iter(below.iter().map(|name| name.nfc()));
    [node, json!([start, below, like, at_its_place])]
}

fn found(rows: &[Row], operations: usize, scope: Option<&str>) -> Result<Vec<Found>> {
    let mut ends: HashMap<(u64, u64), String> = HashMap::new();
    let mut met_scope = HashSet::new();
    for row in rows {
        if let Some(id) = row.text_or_null("id")? {
            if scope == Some(id) {
                met_scope.insert(row.unsigned("target")?);
            }
            ends.insert((row.unsigned("target")?, row.unsigned("names_left")?), id.to_owned());
        }
    }
    let mut end = |target: u64, names_left: u64| ends.remove(&(target, names_left));
    Ok((0..operations as u64)
        .map(|at| Found {
            node: end(2 * at, 0),
            folder: end(2 * at + 1, 1),
            occupant: end(2 * at + 1, 0),
            met_scope: met_scope.contains(&(2 * at + 1)),
        })
        .collect())
}

/// Refuses what no batch may hold.
pub(super) fn check(operations: &[Operation]) -> Result<()> {
    if operations.is_empty() || operations.len() > super::MAX_OPERATIONS {
        return Err(Error::invalid("operations", format!("expected 1 to {}", super::MAX_OPERATIONS)));
    }
    operations
        .iter()
        .enumerate()
        .try_for_each(|(index, operation)| operation.check().map_err(|error| error.of_operation(index)))
}
