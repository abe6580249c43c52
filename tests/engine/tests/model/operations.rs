//! What clients do: made up at random, and as requests.

use http::Request;
use ledge_engine_tests::{Drive, Random};
use serde_json::{Value, json};

use crate::tree::{MAX_DEPTH, Node, Tree};

/// So many folders lie in each other from the start, so that the depth's limit is met.
pub(crate) const DEEP: usize = 125;

/// Few names, so that operations meet. One has two spellings.
const NAMES: [&str; 4] = ["a", "b", "caf\u{e9}", "cafe\u{301}"];
/// A size stands for a content.
pub(crate) const CONTENT: &[u8] = b"0123456789";

/// What a client asks for.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    MakeFolder {
        path: Vec<String>,
    },
    Save {
        path: Vec<String>,
        size: usize,
        condition: Condition,
    },
    /// One node by its own route: DELETE of a path, or a restore.
    Node {
        operation: NodeOperation,
        alone: bool,
    },
    Batch {
        operations: Vec<NodeOperation>,
    },
    Purge {
        id: String,
    },
    Empty,
    RestoreVersion {
        path: Vec<String>,
        version: String,
        condition: Condition,
    },
    DeleteVersion {
        path: Vec<String>,
        version: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    None,
    /// `If-Match` with the tag of the content of this size.
    Content(usize),
    /// `If-None-Match: *`.
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Move,
    Copy,
    Delete,
    Restore,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    Id(String),
    Path(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    Fail,
    Replace,
    Rename,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Any,
    Folder,
    File(Condition),
}

#[derive(Debug, Clone)]
pub(crate) struct NodeOperation {
    pub(crate) verb: Verb,
    pub(crate) node: Target,
    pub(crate) parent: Option<Target>,
    pub(crate) name: Option<String>,
    pub(crate) conflict: OnConflict,
    pub(crate) expected: Expected,
}

/// Makes up operations, looking at the tree for what there is.
pub(crate) struct Maker<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) tree: &'a Tree,
}

impl Maker<'_> {
    pub(crate) fn operation(&mut self) -> Operation {
        // Copies would let the tree grow without end.
        let is_full = self.tree.nodes.len() > DEEP + 80;
        match self.random.below(if is_full { 2 } else { 20 }) {
            0 => self.delete(),
            1 if self.random.one_in(6) || is_full => Operation::Empty,
            1 => match self.trashed() {
                Some(id) => Operation::Purge { id },
                None => Operation::Empty,
            },
            2 | 3 => {
                let mut path = self.folder();
                path.push(self.name());
                Operation::MakeFolder { path }
            }
            4..=8 => self.save(),
            9 | 10 => self.restore(),
            11 => self.restore_version(),
            12 => self.delete_version(),
            _ => {
                let operations = (0..=self.random.below(4)).map(|_| self.node_operation()).collect();
                Operation::Batch { operations }
            }
        }
    }

    fn name(&mut self) -> String {
        NAMES[self.random.below(NAMES.len())].to_owned()
    }

    /// Mostly where something is, else a name in some folder.
    fn path(&mut self) -> Vec<String> {
        let living = self.living(|_| true);
        if self.random.below(3) < 2
            && let Some(id) = self.random.of(&living)
        {
            return self.tree.path(id);
        }
        let mut path = self.folder();
        path.push(self.name());
        path
    }

    /// Mostly a folder that there is.
    fn folder(&mut self) -> Vec<String> {
        if self.random.one_in(20) {
            return (0..DEEP - self.random.below(2)).map(|_| "d".to_owned()).collect();
        }
        let living = self.living(|node| node.is_folder);
        match self.random.below(8) {
            0 => vec![self.name()],
            1..=3 => Vec::new(),
            // A longer path is no path.
            _ => {
                let path = self.random.of(&living).map(|id| self.tree.path(id));
                path.filter(|path| path.len() < MAX_DEPTH).unwrap_or_default()
            }
        }
    }

    fn living(&self, is_candidate: impl Fn(&Node) -> bool) -> Vec<String> {
        let nodes = self.tree.nodes.iter();
        nodes
            .filter(|(id, node)| node.name != "d" && is_candidate(node) && self.tree.depth(id).is_some())
            .map(|(id, _)| id.clone())
            .collect()
    }

    fn condition(&mut self) -> Condition {
        match self.random.below(6) {
            0 => Condition::Absent,
            1 | 2 => Condition::Content(self.random.below(3)),
            _ => Condition::None,
        }
    }

    fn conflict(&mut self) -> OnConflict {
        [OnConflict::Fail, OnConflict::Replace, OnConflict::Rename][self.random.below(3)]
    }

    fn chosen(&mut self, is_candidate: impl Fn(&Node) -> bool) -> Option<String> {
        let candidates: Vec<&String> =
            self.tree.nodes.iter().filter(|(_, node)| is_candidate(node)).map(|(id, _)| id).collect();
        self.random.of(&candidates).map(|id| (*id).clone())
    }

    fn trashed(&mut self) -> Option<String> {
        self.chosen(|node| node.parent == crate::tree::TRASH)
    }

    /// Any node, at times one that hangs in the trash or the root, or none that there is.
    fn id(&mut self) -> String {
        match self.random.below(30) {
            0 => self.tree.root.clone(),
            1 => "018f0000-0000-7000-8000-000000000000".to_owned(),
            _ => self.chosen(|node| node.name != "d").unwrap_or_else(|| self.tree.root.clone()),
        }
    }

    fn save(&mut self) -> Operation {
        Operation::Save {
            path: self.path(),
            size: self.random.below(CONTENT.len()),
            condition: self.condition(),
        }
    }

    fn delete(&mut self) -> Operation {
        let condition = match self.condition() {
            Condition::Absent => Condition::None,
            condition => condition,
        };
        let path = self.path();
        let is_folder = self.tree.at(&path).is_some_and(|id| self.tree.is_folder(&id));
        let expected =
            if is_folder != self.random.one_in(8) { Expected::Folder } else { Expected::File(condition) };
        let operation = NodeOperation {
            verb: Verb::Delete,
            node: Target::Path(path),
            parent: None,
            name: None,
            conflict: OnConflict::Fail,
            expected,
        };
        Operation::Node { operation, alone: true }
    }

    fn restore(&mut self) -> Operation {
        let id = self.trashed().unwrap_or_else(|| self.id());
        let (parent, name) = self.place();
        let is_elsewhere = self.random.one_in(3);
        let operation = NodeOperation {
            verb: Verb::Restore,
            node: Target::Id(id),
            parent: parent.filter(|_| is_elsewhere),
            name: name.filter(|_| is_elsewhere),
            conflict: self.conflict(),
            expected: Expected::Any,
        };
        Operation::Node { operation, alone: true }
    }

    /// A parent, a name, or both.
    fn place(&mut self) -> (Option<Target>, Option<String>) {
        let parent = if self.random.one_in(3) {
            Target::Id(self.chosen(|node| node.is_folder && node.name != "d").unwrap_or_else(|| self.id()))
        } else {
            Target::Path(self.folder())
        };
        match self.random.below(4) {
            0 => (Some(parent), None),
            1 => (None, Some(self.name())),
            _ => (Some(parent), Some(self.name())),
        }
    }

    fn node_operation(&mut self) -> NodeOperation {
        let verb = [Verb::Move, Verb::Move, Verb::Copy, Verb::Delete, Verb::Restore][self.random.below(5)];
        let node = match verb {
            Verb::Restore => Target::Id(self.trashed().unwrap_or_else(|| self.id())),
            _ if self.random.one_in(3) => Target::Id(self.id()),
            _ => Target::Path(self.path()),
        };
        let (parent, name) = if verb == Verb::Delete { (None, None) } else { self.place() };
        NodeOperation { verb, node, parent, name, conflict: self.conflict(), expected: Expected::Any }
    }

    /// Mostly a file's path, and one of its versions.
    fn version(&mut self) -> (Vec<String>, String) {
        let files = self.living(|node| !node.is_folder);
        let path = match self.random.of(&files) {
            Some(id) if !self.random.one_in(6) => self.tree.path(id),
            _ => self.path(),
        };
        let nobodys = "018f0000-0000-7000-8000-000000000000".to_owned();
        let file = self.chosen(|node| !node.is_folder);
        let versions: Vec<String> = match file {
            Some(file) => self.tree.nodes[&file].versions.keys().cloned().collect(),
            None => Vec::new(),
        };
        let mut version = self.random.of(&versions).cloned().unwrap_or(nobodys);
        if let Some(file) = self.tree.at(&path).filter(|id| !self.tree.nodes[id].is_folder) {
            let own: Vec<&String> = self.tree.nodes[&file].versions.keys().collect();
            version = (*self.random.of(&own).unwrap()).clone();
        }
        (path, version)
    }

    fn restore_version(&mut self) -> Operation {
        let (path, version) = self.version();
        let condition = match self.condition() {
            Condition::Absent => Condition::None,
            condition => condition,
        };
        Operation::RestoreVersion { path, version, condition }
    }

    fn delete_version(&mut self) -> Operation {
        let (path, version) = self.version();
        Operation::DeleteVersion { path, version }
    }
}

fn leak(json: &Value) -> &'static [u8] {
    Vec::leak(json.to_string().into_bytes())
}

fn encoded(path: &[String]) -> String {
    let name = |name: &String| -> String {
        name.bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            })
            .collect()
    };
    path.iter().map(name).collect::<Vec<_>>().join("/")
}

impl Operation {
    /// The request; `tags` are the entity tags of contents by their size.
    pub(crate) fn request(&self, drive: &Drive, tags: &[String]) -> Request<&'static [u8]> {
        let (request, condition) = match self {
            Self::MakeFolder { path } => {
                (drive.request("PUT", &format!("folders/{}", encoded(path)), b""), Condition::None)
            }
            Self::Save { path, size, condition } => {
                (drive.request("PUT", &format!("files/{}", encoded(path)), &CONTENT[..*size]), *condition)
            }
            Self::Node { operation, .. } => match (&operation.node, operation.expected) {
                (Target::Path(path), Expected::File(condition)) => {
                    (drive.request("DELETE", &format!("files/{}", encoded(path)), b""), condition)
                }
                (Target::Path(path), _) => {
                    (drive.request("DELETE", &format!("folders/{}", encoded(path)), b""), Condition::None)
                }
                (Target::Id(id), _) => {
                    let mut body = operation.json();
                    for member in ["op", "id"] {
                        body.as_object_mut().unwrap().remove(member);
                    }
                    (drive.request("POST", &format!("trash/{id}/restore"), leak(&body)), Condition::None)
                }
            },
            Self::Batch { operations } => {
                let operations: Vec<Value> = operations.iter().map(NodeOperation::json).collect();
                let body = leak(&json!({ "operations": operations }));
                (drive.request("POST", "nodes/batch", body), Condition::None)
            }
            Self::Purge { id } => (drive.request("DELETE", &format!("trash/{id}"), b""), Condition::None),
            Self::Empty => (drive.request("DELETE", "trash", b""), Condition::None),
            Self::RestoreVersion { path, version, condition } => {
                let body = leak(&json!({ "restore": version }));
                (drive.request("POST", &format!("versions/{}", encoded(path)), body), *condition)
            }
            Self::DeleteVersion { path, version } => {
                let target = format!("versions/{}?version={version}", encoded(path));
                (drive.request("DELETE", &target, b""), Condition::None)
            }
        };
        let mut request = request;
        match condition {
            Condition::None => {}
            Condition::Content(size) => {
                request.headers_mut().insert("if-match", tags[size].parse().unwrap());
            }
            Condition::Absent => {
                request.headers_mut().insert("if-none-match", "*".parse().unwrap());
            }
        }
        request
    }
}

impl NodeOperation {
    fn json(&self) -> Value {
        let path = |path: &[String]| format!("/{}", path.join("/"));
        let mut operation = json!({
            "op": match self.verb {
                Verb::Move => "move",
                Verb::Copy => "copy",
                Verb::Delete => "delete",
                Verb::Restore => "restore",
            },
            "conflict": match self.conflict {
                OnConflict::Fail => "fail",
                OnConflict::Replace => "replace",
                OnConflict::Rename => "rename",
            },
        });
        match &self.node {
            Target::Id(id) => operation["id"] = json!(id),
            Target::Path(names) => operation["path"] = json!(path(names)),
        }
        match &self.parent {
            Some(Target::Id(id)) => operation["to"]["parent"] = json!(id),
            Some(Target::Path(names)) => operation["to"]["parent"] = json!(path(names)),
            None => {}
        }
        if let Some(name) = &self.name {
            operation["to"]["name"] = json!(name);
        }
        operation
    }
}
