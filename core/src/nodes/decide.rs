//! What operations come to, one after another, on what was read: pure rules. The commit holds if nothing of it has
//! changed.
//!
//! Longer than most files: the rules share one state, and each is read beside those that it has to agree with.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::numbers::{MAX_NUMBER, Numbered, Numbers};
use super::over::Over;
use super::read::{Found, Read};
use super::view::{Entry, View, Way};
use super::{Expected, OnConflict, Operation, Outcome, Verb, trash_root};
use crate::conditions::{Conditions, Current, Verdict};
use crate::error::{Conflict, Error, Result};
use crate::ids::{NodeId, SpaceId, VersionId};
use crate::locks::Touched;
use crate::path::{MAX_DEPTH, Name};
use crate::ports::{Host, Timestamp};

/// What is to be committed.
#[derive(Debug)]
pub(super) struct Plan {
    /// What each operation came to.
    pub(super) outcomes: Vec<Outcome>,
    /// What was read.
    pub(super) before: View,
    /// The versions that conditions were evaluated on, by file.
    pub(super) versions: HashMap<String, String>,
    /// The states that conditions were evaluated on, by folder.
    pub(super) states: HashMap<String, u64>,
    /// The nodes that are somewhere else or someone else's after, copies among them.
    pub(super) places: Vec<(String, Entry)>,
    /// Those of them that stand where another one goes: they leave first.
    pub(super) displaced: Vec<String>,
    /// Trees that come to lie deeper: the top, and the depth that it will have.
    pub(super) deeper: Vec<(String, usize)>,
    /// The same for the copies of trees: what is copied, which is what was there before.
    pub(super) deeper_copies: Vec<(String, usize)>,
    /// What is copied.
    pub(super) copies: Vec<Copied>,
    /// Files that are saved over others.
    pub(super) overs: Vec<Over>,
    /// Folders whose list of children changes.
    pub(super) parents: BTreeSet<String>,
}

impl Plan {
    /// What a lock may keep from changing: the folders, and the trees that leave their places. What is copied stays, and
    /// what is in the trash has no locks.
    pub(super) fn touched(&self) -> Touched {
        let leaves = |id: &&String| self.before.get(id).is_some_and(|entry| entry.trashed_at.is_none());
        let moved = self.overs.iter().filter(|over| over.moves).map(|over| &over.from);
        let trees: Vec<String> =
            self.places.iter().map(|(id, _)| id).filter(leaves).chain(moved).cloned().collect();
        let saved = self.overs.iter().map(|over| over.onto.to_string());
        Touched { nodes: self.parents.iter().chain(&trees).cloned().chain(saved).collect(), trees }
    }
}

/// A tree that is copied. The id of each new node is `head`, then 12 hex digits: its old node's integer key, xor `mask`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Copied {
    pub(super) source: String,
    pub(super) head: String,
    pub(super) version_head: String,
    pub(super) mask: u64,
    /// Without what is in it.
    pub(super) alone: bool,
    /// Of one that a job has built, under its hidden root: the depth of its top for which it isn't too deep.
    pub(super) built_for: Option<usize>,
}

impl Copied {
    /// Makes up the ids: all but their last 48 bits come from one UUIDv7 each, the mask hides the key.
    fn new(host: &impl Host, source: &str, alone: bool) -> Self {
        let (node, version) = (NodeId::new(host), VersionId::new(host));
        let split = |id: &str| -> (String, u64) {
            let (head, tail) = id.split_at_checked(24).unwrap_or((id, ""));
            (head.to_owned(), u64::from_str_radix(tail, 16).unwrap_or_default())
        };
        let (head, mask) = split(node.as_str());
        Self {
            source: source.to_owned(),
            head,
            version_head: split(version.as_str()).0,
            mask,
            alone,
            built_for: None,
        }
    }

    pub(super) fn id(&self, key: u64) -> String {
        format!("{}{:012x}", self.head, self.mask ^ key)
    }

    pub(super) fn version_id(&self, key: u64) -> String {
        format!("{}{:012x}", self.version_head, self.mask ^ key)
    }
}

/// Decides on all operations. Where a free name is needed and none was looked up that is, `numbers` wants some after it,
/// and the plan is void.
pub(super) fn decide(
    host: &impl Host,
    space: &SpaceId,
    operations: &[Operation],
    read: &Read,
    numbers: &mut Numbers,
) -> Result<Plan> {
    let mut state = State::new(space, read, operations, host.now());
    let mut outcomes = Vec::with_capacity(operations.len());
    for (index, (operation, found)) in operations.iter().zip(&read.found).enumerate() {
        let outcome = state.apply(host, operation, found, &read.view, numbers);
        outcomes.push(outcome.map_err(|error| error.of_operation(index))?);
    }
    state.plan(read, outcomes)
}

/// The tree while the operations are applied.
struct State {
    now: Timestamp,
    trash: String,
    /// The folder that the token is limited to.
    scope: Option<String>,
    /// What was deleted then or before has expired.
    kept_since: Option<Timestamp>,
    view: View,
    /// What stands under a name in a folder, as far as it is known.
    names: HashMap<(String, String), Option<String>>,
    touched: Vec<String>,
    named: HashSet<String>,
    versions: HashMap<String, String>,
    states: HashMap<String, u64>,
    copies: Vec<(Copied, String)>,
    overs: Vec<Over>,
    parents: BTreeSet<String>,
    /// The copy that needs only its place.
    built: Option<Copied>,
    /// The number of the last name in a void plan; they count down.
    provisional: u64,
}

impl State {
    fn new(space: &SpaceId, read: &Read, operations: &[Operation], now: Timestamp) -> Self {
        let view = read.view.clone();
        let names = operations.iter().zip(&read.found).filter_map(|(operation, found)| {
            let nfc = match &operation.to.name {
                Some(name) => name.nfc().to_owned(),
                None => view.get(found.node.as_deref()?)?.nfc.clone(),
            };
            Some(((found.folder.clone()?, nfc), found.occupant.clone()))
        });
        Self {
            now,
            trash: trash_root(space),
            scope: read.caller.folder.clone(),
            kept_since: read.caller.trash_days.map(|days| Timestamp(now.0 - days * 86_400_000)),
            names: names.collect(),
            view,
            touched: Vec::new(),
            named: HashSet::new(),
            versions: HashMap::new(),
            states: HashMap::new(),
            copies: Vec::new(),
            overs: Vec::new(),
            parents: BTreeSet::new(),
            built: read.built.clone(),
            provisional: MAX_NUMBER,
        }
    }

    fn apply(
        &mut self,
        host: &impl Host,
        operation: &Operation,
        found: &Found,
        before: &View,
        numbers: &mut Numbers,
    ) -> Result<Outcome> {
        let id = found.node.clone().ok_or(Error::NotFound)?;
        let entry = self.source(operation, &id)?;
        if operation.verb == Verb::Delete {
            self.trash(&id);
            let name = entry.name.clone();
            return outcome(operation.verb, &id, &entry, name, &entry.parent, None);
        }
        let folder = self.folder(operation, &id, found)?;
        let name = match &operation.to.name {
            Some(name) => name.clone(),
            // As what is copied is what was there before, so is its name: that is the one that was looked for.
            None => Name::parse(before.get(&id).map_or("", |entry| &entry.name))?,
        };
        let occupant = self.names.get(&(folder.clone(), name.nfc().to_owned())).cloned().flatten();
        let mut replaced = None;
        let name = match (occupant, operation.conflict) {
            (None, _) => name,
            (Some(occupant), _) if occupant == id && operation.verb == Verb::Move => name,
            (Some(_), OnConflict::Fail) => return Err(Error::Conflict(Conflict::NameTaken)),
            (Some(onto), OnConflict::Save) if self.are_files(&id, &onto) => {
                return self.save_over(host, operation.verb, &id, &entry, &onto);
            }
            (Some(occupant), OnConflict::Replace | OnConflict::Save) => {
                if self.view.is_within(&id, &occupant) {
                    return Err(Error::Conflict(Conflict::IntoItself));
                }
                self.trash(&occupant);
                replaced = Some(occupant);
                name
            }
            (Some(_), OnConflict::Rename) => {
                self.free_name(&Numbered::new(&folder, &name, entry.is_folder), numbers)?
            }
        };
        let id = self.place(host, operation, &id, &entry, &folder, &name)?;
        outcome(operation.verb, &id, &entry, name.as_str().to_owned(), &folder, replaced.as_deref())
    }

    /// Whether both are files, and not the same.
    fn are_files(&self, id: &str, other: &str) -> bool {
        let is_file = |id| self.view.get(id).is_some_and(|entry| !entry.is_folder);
        id != other && is_file(id) && is_file(other)
    }

    fn save_over(
        &mut self,
        host: &impl Host,
        verb: Verb,
        id: &str,
        entry: &Entry,
        onto: &str,
    ) -> Result<Outcome> {
        let occupant = self.view.get(onto).ok_or(Error::NotFound)?.clone();
        for (id, entry) in [(id, entry), (onto, &occupant)] {
            self.versions.extend(entry.version.clone().map(|version| (id.to_owned(), version)));
        }
        let moves = verb == Verb::Move;
        if moves {
            self.leave(id, entry);
        }
        let version = match &entry.version {
            Some(version) if moves => version.clone(),
            _ => VersionId::new(host).to_string(),
        };
        let parse =
            || NodeId::parse(onto).ok_or_else(|| Error::Internal("a node's id is malformed".to_owned()));
        self.overs.push(Over {
            onto: parse()?,
            from: id.to_owned(),
            version,
            moves,
            from_folder: entry.parent.clone(),
            folder: occupant.parent.clone(),
        });
        outcome(verb, onto, &occupant, occupant.name.clone(), &occupant.parent, Some(onto))
    }

    /// The node of an operation, if it may be its node.
    fn source(&mut self, operation: &Operation, id: &str) -> Result<Entry> {
        let entry = self.view.get(id).ok_or(Error::NotFound)?.clone();
        let is_scope = self.scope.as_deref() == Some(id);
        if !self.reaches(id) || (is_scope && operation.verb != Verb::Copy) {
            return Err(Error::NotFound);
        }
        if operation.verb == Verb::Restore {
            let has_expired = |at| self.kept_since.is_some_and(|since| at <= since);
            if entry.trashed_at.is_none_or(has_expired) {
                return Err(Error::NotFound);
            }
        } else {
            match self.view.way(id) {
                Way::Lives { depth: 0 } => return Err(Error::Conflict(Conflict::IsRoot)),
                Way::Lives { .. } => {}
                Way::Gone { .. } => return Err(Error::NotFound),
            }
        }
        if operation.verb != Verb::Copy && !self.named.insert(id.to_owned()) {
            return Err(Error::invalid("operations", "an earlier operation is about the same node"));
        }
        let conditions = match &operation.expected {
            Expected::Any => return Ok(entry),
            Expected::Folder(_) if !entry.is_folder => return Err(Error::Conflict(Conflict::NotAFolder)),
            Expected::File(_) if entry.is_folder => return Err(Error::Conflict(Conflict::IsAFolder)),
            Expected::Folder(conditions) | Expected::File(conditions) | Expected::Matching(conditions) => {
                conditions
            }
        };
        let current = Current { etag: Some(&entry.etag), modified_at: entry.modified_at };
        if conditions.evaluate(Some(current), false) != Verdict::Proceed {
            return Err(Error::PreconditionFailed);
        }
        self.versions.extend(entry.version.clone().map(|version| (id.to_owned(), version)));
        // Without conditions a folder may change below: it need not be decided again.
        if entry.is_folder && *conditions != Conditions::default() {
            self.states.insert(id.to_owned(), entry.changed_seq);
        }
        Ok(entry)
    }

    /// Whether the token's scope reaches the node.
    fn reaches(&self, id: &str) -> bool {
        self.scope.as_deref().is_none_or(|scope| self.view.came_from(id, scope))
    }

    /// The folder that a node is to go to, if it may go there.
    fn folder(&self, operation: &Operation, id: &str, found: &Found) -> Result<String> {
        let missing = |at: &str| {
            if operation.verb == Verb::Restore && operation.to.parent.is_none() {
                let name = self.view.get(at).map(|entry| entry.name.clone());
                return Error::ParentGone { id: at.to_owned(), name };
            }
            Error::Conflict(Conflict::ParentMissing)
        };
        // Outside of the token's scope nothing is there, not even the lack of a folder.
        let folder = match found.folder.as_deref() {
            Some(folder) if self.reaches(folder) => folder,
            None if self.scope.is_none() || found.met_scope => return Err(missing("")),
            _ => return Err(Error::NotFound),
        };
        let entry = self.view.get(folder).ok_or_else(|| missing(folder))?;
        let depth = match self.view.way(folder) {
            Way::Lives { depth } => depth,
            Way::Gone { at } => return Err(missing(&at)),
        };
        if !entry.is_folder {
            return Err(Error::Conflict(Conflict::NotAFolder));
        }
        if self.view.is_within(folder, id) {
            return Err(Error::Conflict(Conflict::IntoItself));
        }
        if depth >= MAX_DEPTH {
            return Err(Error::Conflict(Conflict::TooDeep));
        }
        Ok(folder.to_owned())
    }

    /// A name that is free by what was looked up, or, in a plan that is void, one that nothing else has: what comes
    /// after must be decided as if the node had left its place.
    fn free_name(&mut self, numbered: &Numbered, numbers: &mut Numbers) -> Result<Name> {
        for number in numbers.free(numbered).unwrap_or_default() {
            let name = numbered.with(*number)?;
            let key = (numbered.folder().to_owned(), name.nfc().to_owned());
            if !matches!(self.names.get(&key), Some(Some(_))) {
                return Ok(name);
            }
        }
        numbers.want_more(numbered);
        self.provisional -= 1;
        numbered.with(self.provisional)
    }

    fn trash(&mut self, id: &str) {
        let Some(mut entry) = self.view.get(id).cloned() else { return };
        self.leave(id, &entry);
        entry.trashed_at = Some(self.now);
        entry.trashed_from = Some(std::mem::replace(&mut entry.parent, self.trash.clone()));
        self.touch(id, entry);
    }

    fn leave(&mut self, id: &str, entry: &Entry) {
        if entry.trashed_at.is_none() {
            let key = (entry.parent.clone(), entry.nfc.clone());
            if self.names.get(&key).is_none_or(|occupant| occupant.as_deref() == Some(id)) {
                self.names.insert(key, None);
            }
            self.parents.insert(entry.parent.clone());
        }
    }

    fn place(
        &mut self,
        host: &impl Host,
        operation: &Operation,
        id: &str,
        entry: &Entry,
        folder: &str,
        name: &Name,
    ) -> Result<String> {
        let mut placed = Entry {
            parent: folder.to_owned(),
            name: name.as_str().to_owned(),
            nfc: name.nfc().to_owned(),
            trashed_at: None,
            trashed_from: None,
            ..entry.clone()
        };
        let id = if operation.verb == Verb::Copy {
            let copied = self.built.take().unwrap_or_else(|| Copied::new(host, id, operation.alone));
            let key = entry.key.ok_or_else(|| Error::Internal("a copy is copied".to_owned()))?;
            let new = copied.id(key);
            self.copies.push((copied, new.clone()));
            placed.key = None;
            new
        } else {
            if placed == *entry {
                return Ok(id.to_owned());
            }
            self.leave(id, entry);
            id.to_owned()
        };
        self.names.insert((folder.to_owned(), placed.nfc.clone()), Some(id.clone()));
        self.parents.insert(folder.to_owned());
        self.touch(&id, placed);
        Ok(id)
    }

    fn touch(&mut self, id: &str, entry: Entry) {
        self.view.put(id, entry);
        if !self.touched.iter().any(|touched| touched == id) {
            self.touched.push(id.to_owned());
        }
    }

    fn plan(self, read: &Read, outcomes: Vec<Outcome>) -> Result<Plan> {
        let copies: HashMap<&str, &Copied> =
            self.copies.iter().map(|(copied, id)| (id.as_str(), copied)).collect();
        let places: Vec<(String, Entry)> = self
            .touched
            .iter()
            .filter_map(|id| Some((id.clone(), self.view.get(id)?.clone())))
            .filter(|(id, entry)| read.view.get(id) != Some(entry))
            .collect();
        let (mut deeper, mut deeper_copies) = (Vec::new(), Vec::new());
        for (id, entry) in &places {
            let Way::Lives { depth } = self.view.way(id) else { continue };
            if depth > MAX_DEPTH {
                return Err(Error::Conflict(Conflict::TooDeep));
            }
            let was_as_deep = matches!(read.view.way(id), Way::Lives { depth: before } if before >= depth);
            let (trees, top, is_checked) = match copies.get(id.as_str()) {
                None => (&mut deeper, id, was_as_deep),
                Some(Copied { built_for: Some(checked), .. }) => (&mut deeper, id, *checked >= depth),
                Some(copied) => (&mut deeper_copies, &copied.source, copied.alone),
            };
            if entry.is_folder && !is_checked {
                trees.push((top.clone(), depth));
            }
        }
        let taken: HashSet<(&str, &str)> = places
            .iter()
            .filter(|(_, entry)| entry.trashed_at.is_none())
            .map(|(_, entry)| (entry.parent.as_str(), entry.nfc.as_str()))
            .collect();
        let displaced = places
            .iter()
            .filter(|(id, entry)| {
                read.view.get(id).is_some_and(|before| {
                    let stays = (&before.parent, &before.nfc) == (&entry.parent, &entry.nfc);
                    before.trashed_at.is_none()
                        && !stays
                        && taken.contains(&(before.parent.as_str(), before.nfc.as_str()))
                })
            })
            .map(|(id, _)| id.clone())
            .collect();
        Ok(Plan {
            outcomes,
            before: read.view.clone(),
            versions: self.versions,
            states: self.states,
            places,
            displaced,
            deeper,
            deeper_copies,
            copies: self.copies.into_iter().map(|(copied, _)| copied).collect(),
            overs: self.overs,
            parents: self.parents,
        })
    }
}

fn outcome(
    verb: Verb,
    id: &str,
    entry: &Entry,
    name: String,
    parent: &str,
    replaced: Option<&str>,
) -> Result<Outcome> {
    let parse =
        |id: &str| NodeId::parse(id).ok_or_else(|| Error::Internal("a node's id is malformed".to_owned()));
    Ok(Outcome {
        verb,
        id: parse(id)?,
        is_folder: entry.is_folder,
        name,
        parent: parse(parent)?,
        replaced: replaced.map(parse).transpose()?,
    })
}
