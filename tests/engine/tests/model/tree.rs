//! The plain tree: what every operation does to it, by the rules of docs/API.md, one after another.

use std::collections::{BTreeMap, BTreeSet};

use crate::operations::{Condition, Expected, NodeOperation, OnConflict, Operation, Target, Verb};

/// What a path can hold at most.
pub(crate) const MAX_DEPTH: usize = 128;

/// Where deleted nodes hang.
pub(crate) const TRASH: &str = "trash";

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) parent: String,
    pub(crate) name: String,
    pub(crate) is_folder: bool,
    /// A file's current version.
    pub(crate) current: Option<String>,
    /// A file's versions and their sizes, which stand for contents.
    pub(crate) versions: BTreeMap<String, usize>,
    pub(crate) trashed_from: Option<String>,
}

/// The tree. New nodes and versions have ids of its own until the database's are known ([`Tree::bind`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) root: String,
    pub(crate) quota: usize,
    pub(crate) nodes: BTreeMap<String, Node>,
    fresh: usize,
}

/// What an operation came to: the status, and what became of each node; or status, code and place in the batch.
pub(crate) type Answer = Result<Done, Refusal>;
/// Status, code, and the operation's place in a batch.
pub(crate) type Refusal = (u16, &'static str, Option<usize>);

/// A success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) status: u16,
    pub(crate) results: Vec<Placed>,
}

/// What became of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) parent: String,
    pub(crate) replaced: Option<String>,
}

/// What the server did where the rules leave a choice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    /// The names in its answer, where it has answered.
    pub(crate) names: Vec<String>,
    /// What was in the trash when it was last read.
    pub(crate) seen_in_trash: Vec<String>,
    /// At a commit, the folder that a path led to when it was last read, and the file in it: a save goes into the folder
    /// that it found, even if that has another name by now.
    pub(crate) found: Option<(String, Option<String>)>,
}

fn refuse<T>(status: u16, code: &'static str) -> Result<T, Refusal> {
    Err((status, code, None))
}

/// The one composed character of these tests.
pub(crate) fn nfc(name: &str) -> String {
    name.replace("e\u{301}", "\u{e9}")
}

impl Tree {
    pub(crate) fn new(root: &str, quota: usize) -> Self {
        Self { root: root.to_owned(), quota, nodes: BTreeMap::new(), fresh: 0 }
    }

    /// Whether an id is the model's own.
    pub(crate) fn is_fresh(id: &str) -> bool {
        id.starts_with("new ")
    }

    fn fresh(&mut self) -> String {
        self.fresh += 1;
        format!("new {}", self.fresh)
    }

    /// Whether both have the same nodes.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }

    pub(crate) fn used(&self) -> usize {
        self.nodes.values().flat_map(|node| node.versions.values()).sum()
    }

    /// What stands under a name in a folder.
    pub(crate) fn child(&self, parent: &str, name: &str) -> Option<&String> {
        let mut children = self.nodes.iter().filter(|(_, node)| node.parent == parent);
        children.find(|(_, node)| nfc(&node.name) == nfc(name)).map(|(id, _)| id)
    }

    /// The root and what stands along the names, as far as there is anything.
    fn walk(&self, names: &[String]) -> Vec<String> {
        let mut way = vec![self.root.clone()];
        for name in names {
            let Some(id) = self.child(&way[way.len() - 1], name) else { break };
            way.push(id.clone());
        }
        way
    }

    pub(crate) fn at(&self, names: &[String]) -> Option<String> {
        let mut way = self.walk(names);
        (way.len() == names.len() + 1).then(|| way.pop()).flatten()
    }

    /// How far below the root a living node is.
    pub(crate) fn depth(&self, id: &str) -> Option<usize> {
        let (mut at, mut depth) = (id, 0);
        while at != self.root {
            at = &self.nodes.get(at)?.parent;
            depth += 1;
        }
        Some(depth)
    }

    /// A living node's path.
    pub(crate) fn path(&self, id: &str) -> Vec<String> {
        let (mut at, mut path) = (id, Vec::new());
        while let Some(node) = self.nodes.get(at) {
            path.insert(0, node.name.clone());
            at = &node.parent;
        }
        path
    }

    fn is_within(&self, id: &str, top: &str) -> bool {
        let mut at = id;
        loop {
            if at == top {
                return true;
            }
            match self.nodes.get(at) {
                Some(node) => at = &node.parent,
                None => return false,
            }
        }
    }

    pub(crate) fn is_folder(&self, id: &str) -> bool {
        id == self.root || self.nodes.get(id).is_some_and(|node| node.is_folder)
    }

    pub(crate) fn trashed(&self) -> Vec<String> {
        self.nodes.iter().filter(|(_, node)| node.parent == TRASH).map(|(id, _)| id.clone()).collect()
    }

    /// The node at a path whose parent must be there, and that parent.
    fn resolve(&self, path: &[String]) -> Result<(Option<String>, String), Refusal> {
        let mut way = self.walk(path);
        let deepest = way[way.len() - 1].clone();
        if way.len() == path.len() + 1 {
            return Ok((way.pop(), way.pop().unwrap()));
        }
        if !self.is_folder(&deepest) {
            return refuse(409, "not_a_folder");
        }
        if way.len() == path.len() { Ok((None, deepest)) } else { refuse(409, "parent_missing") }
    }

    /// What [`Tree::resolve`] finds, or what it has found before and what is there now.
    fn found(&self, path: &[String], choice: &Choice) -> Result<(Option<String>, String), Refusal> {
        let Some((parent, _)) = &choice.found else { return self.resolve(path) };
        match self.depth(parent) {
            Some(depth) if depth < MAX_DEPTH => {
                Ok((self.child(parent, &path[path.len() - 1]).cloned(), parent.clone()))
            }
            _ => refuse(409, "parent_missing"),
        }
    }

    /// What a path leads to, for [`Choice::found`].
    pub(crate) fn find(&self, operation: &Operation) -> Option<(String, Option<String>)> {
        match operation {
            Operation::MakeFolder { path }
            | Operation::Save { path, .. }
            | Operation::RestoreVersion { path, .. }
            | Operation::DeleteVersion { path, .. } => {
                self.resolve(path).ok().map(|(id, parent)| (parent, id))
            }
            _ => None,
        }
    }

    fn meets(&self, condition: Condition, id: Option<&String>) -> Result<(), Refusal> {
        let size = id.map(|id| self.size(id));
        let is_met = match condition {
            Condition::None => true,
            Condition::Content(wanted) => size == Some(wanted),
            Condition::Absent => size.is_none(),
        };
        if is_met { Ok(()) } else { refuse(412, "precondition_failed") }
    }

    /// A file's current size.
    pub(crate) fn size(&self, id: &str) -> usize {
        let node = &self.nodes[id];
        node.versions[node.current.as_ref().unwrap()]
    }

    fn version(&mut self, id: &str, size: usize) {
        let version = self.fresh();
        let node = self.nodes.get_mut(id).unwrap();
        node.current = Some(version.clone());
        node.versions.insert(version, size);
    }

    fn insert(&mut self, parent: &str, name: &str, is_folder: bool) -> String {
        let id = self.fresh();
        let node = Node {
            parent: parent.to_owned(),
            name: name.to_owned(),
            is_folder,
            current: None,
            versions: BTreeMap::new(),
            trashed_from: None,
        };
        self.nodes.insert(id.clone(), node);
        id
    }

    /// Applies an operation; the tree is void where it is refused.
    pub(crate) fn apply(&mut self, operation: &Operation, choice: &Choice) -> Answer {
        let done = |status| Ok(Done { status, results: Vec::new() });
        match operation {
            Operation::MakeFolder { path } => match self.found(path, choice)? {
                (Some(id), _) if self.is_folder(&id) => done(200),
                (Some(_), _) => refuse(409, "is_a_file"),
                (None, parent) => {
                    self.insert(&parent, &path[path.len() - 1], true);
                    done(201)
                }
            },
            Operation::Save { path, size, condition } => {
                let (id, parent) = self.found(path, choice)?;
                if id.as_ref().is_some_and(|id| self.is_folder(id)) {
                    return refuse(409, "is_a_folder");
                }
                self.meets(*condition, id.as_ref())?;
                if self.used() + size > self.quota {
                    return refuse(507, "quota_exceeded");
                }
                let status = if id.is_some() { 204 } else { 201 };
                let placeholder = id.as_ref().filter(|id| self.size(id) == 0);
                let placeholder = placeholder.and_then(|id| self.nodes[id].current.clone());
                let id = id.unwrap_or_else(|| self.insert(&parent, &path[path.len() - 1], false));
                self.version(&id, *size);
                // An empty version that only held the name isn't kept.
                placeholder.map(|version| self.nodes.get_mut(&id).unwrap().versions.remove(&version));
                done(status)
            }
            Operation::Node { operation, alone } => {
                let results = self.batch(std::slice::from_ref(operation), choice);
                match results {
                    Ok(_) if operation.verb == Verb::Delete => done(204),
                    Ok(results) => Ok(Done { status: 200, results }),
                    Err((status, code, _)) if *alone => refuse(status, code),
                    Err(refusal) => Err(refusal),
                }
            }
            Operation::Batch { operations } => {
                Ok(Done { status: 200, results: self.batch(operations, choice)? })
            }
            Operation::Purge { id } => {
                if self.nodes.get(id).is_none_or(|node| node.parent != TRASH) {
                    return refuse(404, "not_found");
                }
                self.purge(std::slice::from_ref(id));
                done(204)
            }
            Operation::Empty => {
                self.purge(&choice.seen_in_trash);
                done(204)
            }
            Operation::RestoreVersion { path, version, condition } => {
                let id = self.file_with(path, version, *condition, choice)?;
                let size = self.nodes[&id].versions[version];
                if size > 0 && self.used() + size > self.quota {
                    return refuse(507, "quota_exceeded");
                }
                self.version(&id, size);
                done(201)
            }
            Operation::DeleteVersion { path, version } => {
                let id = self.file_with(path, version, Condition::None, choice)?;
                let node = self.nodes.get_mut(&id).unwrap();
                if node.current.as_ref() == Some(version) {
                    return refuse(409, "current_version");
                }
                node.versions.remove(version);
                done(204)
            }
        }
    }

    fn file_with(
        &self,
        path: &[String],
        version: &str,
        condition: Condition,
        choice: &Choice,
    ) -> Result<String, Refusal> {
        let id = match &choice.found {
            // It may have another name by now, but not another folder.
            Some((parent, Some(id))) => {
                let stays = |node: &&Node| node.parent == *parent && self.depth(id).is_some();
                self.nodes.get(id).filter(stays).map(|_| id.clone())
            }
            Some((_, None)) => None,
            None => self.at(path),
        };
        let Some(id) = id else { return refuse(404, "not_found") };
        if self.is_folder(&id) {
            return refuse(409, "is_a_folder");
        }
        if !self.nodes[&id].versions.contains_key(version) {
            return refuse(404, "not_found");
        }
        self.meets(condition, Some(&id))?;
        Ok(id)
    }

    fn purge(&mut self, tops: &[String]) {
        let gone: Vec<String> = (self.nodes.keys())
            .filter(|id| tops.iter().any(|top| self.is_within(id, top)))
            .cloned()
            .collect();
        for id in gone {
            self.nodes.remove(&id);
        }
    }

    fn batch(&mut self, operations: &[NodeOperation], choice: &Choice) -> Result<Vec<Placed>, Refusal> {
        let before = self.clone();
        let mut named = BTreeSet::new();
        let mut results = Vec::new();
        for (index, operation) in operations.iter().enumerate() {
            let name = choice.names.get(index).map(String::as_str);
            let placed = self.one(&before, operation, &mut named, name);
            results.push(placed.map_err(|(status, code, _)| (status, code, Some(index)))?);
        }
        if self.nodes.keys().any(|id| self.depth(id).is_some_and(|depth| depth > MAX_DEPTH)) {
            return refuse(409, "too_deep");
        }
        if operations.iter().any(|operation| operation.verb == Verb::Copy) && self.used() > self.quota {
            return refuse(507, "quota_exceeded");
        }
        Ok(results)
    }

    fn one(
        &mut self,
        before: &Self,
        operation: &NodeOperation,
        named: &mut BTreeSet<String>,
        chosen: Option<&str>,
    ) -> Result<Placed, Refusal> {
        // Paths, and the places that ids stand for, are those before the batch.
        let id = match &operation.node {
            Target::Id(id) if *id == self.root || before.nodes.contains_key(id) => Some(id.clone()),
            Target::Id(_) => None,
            Target::Path(path) => before.at(path),
        };
        let Some(id) = id else { return refuse(404, "not_found") };
        let node = self.source(operation, &id, named)?;
        if operation.verb == Verb::Delete {
            let parent = node.parent.clone();
            self.trash(&id);
            return Ok(Placed { id, name: node.name, parent, replaced: None });
        }
        let folder = self.folder(before, operation, &id)?;
        let mut name = operation.name.clone().unwrap_or_else(|| before.nodes[&id].name.clone());
        let mut replaced = None;
        match (self.child(&folder, &name).cloned(), operation.conflict) {
            (None, _) => {}
            (Some(occupant), _) if occupant == id && operation.verb == Verb::Move => {}
            (Some(_), OnConflict::Fail) => return refuse(409, "name_taken"),
            (Some(occupant), OnConflict::Replace) => {
                if self.is_within(&id, &occupant) {
                    return refuse(409, "into_itself");
                }
                self.trash(&occupant);
                replaced = Some(occupant);
            }
            (Some(_), OnConflict::Rename) => name = self.number(&folder, &name, chosen),
        }
        let id = if operation.verb == Verb::Copy { self.copy(before, &id) } else { id };
        let placed = self.nodes.get_mut(&id).unwrap();
        (placed.parent, placed.name, placed.trashed_from) = (folder.clone(), name.clone(), None);
        Ok(Placed { id, name, parent: folder, replaced })
    }

    fn source(
        &self,
        operation: &NodeOperation,
        id: &str,
        named: &mut BTreeSet<String>,
    ) -> Result<Node, Refusal> {
        let node = self.nodes.get(id);
        if operation.verb == Verb::Restore {
            if node.is_none_or(|node| node.parent != TRASH) {
                return refuse(404, "not_found");
            }
        } else if id == self.root {
            return refuse(409, "is_root");
        } else if self.depth(id).is_none() {
            return refuse(404, "not_found");
        }
        if operation.verb != Verb::Copy && !named.insert(id.to_owned()) {
            return refuse(400, "invalid");
        }
        match operation.expected {
            Expected::Any => {}
            Expected::Folder if self.is_folder(id) => {}
            Expected::Folder => return refuse(409, "not_a_folder"),
            Expected::File(_) if self.is_folder(id) => return refuse(409, "is_a_folder"),
            Expected::File(condition) => self.meets(condition, Some(&id.to_owned()))?,
        }
        Ok(self.nodes[id].clone())
    }

    fn folder(&self, before: &Self, operation: &NodeOperation, id: &str) -> Result<String, Refusal> {
        let missing = if operation.verb == Verb::Restore && operation.parent.is_none() {
            refuse(409, "parent_gone")
        } else {
            refuse(409, "parent_missing")
        };
        let folder = match &operation.parent {
            Some(Target::Id(id)) => Some(id.clone()),
            Some(Target::Path(path)) => before.at(path),
            None => {
                let node = &before.nodes[id];
                Some(node.trashed_from.clone().unwrap_or_else(|| node.parent.clone()))
            }
        };
        let Some(folder) = folder else { return missing };
        let Some(depth) = self.depth(&folder) else { return missing };
        if !self.is_folder(&folder) {
            return refuse(409, "not_a_folder");
        }
        if self.is_within(&folder, id) {
            return refuse(409, "into_itself");
        }
        if depth >= MAX_DEPTH {
            return refuse(409, "too_deep");
        }
        Ok(folder)
    }

    /// The name with a number. Which one, the server says: one that was free when it looked.
    fn number(&self, folder: &str, name: &str, chosen: Option<&str>) -> String {
        let is_free = |numbered: &String| self.child(folder, numbered).is_none();
        let Some(chosen) = chosen else {
            return (2..).map(|number| format!("{name} ({number})")).find(is_free).unwrap();
        };
        let number = chosen.strip_prefix(name).and_then(|rest| rest.strip_prefix(" (")?.strip_suffix(')'));
        let number: Option<u32> = number.and_then(|number| number.parse().ok());
        assert!(number >= Some(2) && is_free(&chosen.to_owned()), "{chosen} is no free name for {name}");
        chosen.to_owned()
    }

    fn trash(&mut self, id: &str) {
        let node = self.nodes.get_mut(id).unwrap();
        node.trashed_from = Some(std::mem::replace(&mut node.parent, TRASH.to_owned()));
    }

    /// Copies a tree as it was before the batch; the top has no place yet.
    fn copy(&mut self, before: &Self, id: &str) -> String {
        let original = &before.nodes[id];
        let copy = self.insert("", &original.name, original.is_folder);
        if !original.is_folder {
            self.version(&copy, before.size(id));
        }
        for (child, _) in before.nodes.iter().filter(|(_, node)| node.parent == id) {
            let below = self.copy(before, child);
            self.nodes.get_mut(&below).unwrap().parent.clone_from(&copy);
        }
        copy
    }

    /// Gives new nodes and versions the ids that the database has given them: tops of copies are `tops`, all others are
    /// found by their places.
    pub(crate) fn bind(&mut self, rows: &Tree, tops: &[(String, String)]) {
        for (own, id) in tops {
            self.rename(own, id);
        }
        loop {
            let found =
                self.nodes.iter().filter(|(id, _)| Self::is_fresh(id)).find_map(|(own, node)| {
                    Some((own.clone(), rows.child(&node.parent, &node.name)?.clone()))
                });
            let Some((own, id)) = found else { break };
            self.rename(&own, &id);
        }
        for (id, node) in &mut self.nodes {
            let (Some(own), Some(row)) = (node.current.clone(), rows.nodes.get(id)) else { continue };
            if let (true, Some(current)) = (Self::is_fresh(&own), &row.current) {
                let size = node.versions.remove(&own).unwrap();
                node.versions.insert(current.clone(), size);
                node.current = Some(current.clone());
            }
        }
    }

    fn rename(&mut self, own: &str, id: &str) {
        let Some(node) = self.nodes.remove(own) else { return };
        self.nodes.insert(id.to_owned(), node);
        for node in self.nodes.values_mut() {
            if node.parent == own {
                id.clone_into(&mut node.parent);
            }
            if node.trashed_from.as_deref() == Some(own) {
                node.trashed_from = Some(id.to_owned());
            }
        }
    }
}
