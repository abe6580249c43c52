//! A client that keeps a copy of the tree, as docs/API.md tells it to: it follows the feed of changes.

use std::collections::{BTreeMap, HashSet};

use ledge_core::ports::Value;
use serde_json::Value as Json;

use crate::Drive;

/// What the copy knows of a node: its parent, its name, a file's version.
type Known = (String, String, Option<String>);

/// The copy, and how far it has followed.
#[derive(Debug)]
pub struct Follower {
    cursor: String,
    root: String,
    nodes: BTreeMap<String, Known>,
    /// Folders of which it doesn't know what is below.
    unlisted: HashSet<String>,
}

impl Follower {
    /// Begins: asks where the feed ends, then lists everything.
    pub async fn new(drive: &Drive) -> Self {
        let cursor = text(&get(drive, "changes").await["cursor"]);
        let root = text(&get(drive, "folders/").await["folder"]["id"]);
        let mut follower =
            Self { cursor, root: root.clone(), nodes: BTreeMap::new(), unlisted: HashSet::new() };
        follower.list(drive, &root).await;
        follower
    }

    /// Reads one page, of at most `limit` changes; whether there are more.
    pub async fn follow(&mut self, drive: &Drive, limit: usize) -> bool {
        let page = get(drive, &format!("changes?since={}&limit={limit}", self.cursor)).await;
        for change in page["changes"].as_array().expect("a list") {
            self.apply(change);
        }
        self.cursor = text(&page["cursor"]);
        page["more"] == true
    }

    /// Reads to the end, while nobody writes; the copy is the tree then.
    pub async fn catch_up(&mut self, drive: &Drive) {
        while self.follow(drive, 7).await {}
        // A folder whose way up isn't known yet lies in another one of them, and is listed with that.
        let unlisted = std::mem::take(&mut self.unlisted);
        let (known, deeper): (Vec<_>, Vec<_>) =
            unlisted.into_iter().partition(|folder| self.leads_to_the_root(folder));
        for folder in known {
            self.list(drive, &folder).await;
        }
        assert!(deeper.iter().all(|folder| self.leads_to_the_root(folder)), "{deeper:?}");
        let columns = "select id || '|' || parent_id || '|' || name || '|' || coalesce(version_id, '') as it";
        let living = "from nodes where parent_id <> '' and trashed_at is null and id in (
            with recursive down (id) as (
                select root_id from spaces
                union all select k.id from down d join nodes k on k.parent_id = d.id and k.trashed_at is null)
            select id from down) order by id";
        let tree = drive.column(format!("{columns} {living}").leak()).await;
        let copy: Vec<Value> = (self.nodes.iter())
            .map(|(id, (parent, name, version))| {
                Value::Text(format!("{id}|{parent}|{name}|{}", version.as_deref().unwrap_or_default()))
            })
            .collect();
        assert_eq!(copy, tree, "the copy, then the tree");
    }

    fn apply(&mut self, change: &Json) {
        let id = text(&change["id"]);
        let node = &change["node"];
        if node.is_null() {
            self.forget(&id);
            return;
        }
        let is_known = self.nodes.contains_key(&id);
        if change["subtree"] == true && (!is_known || change["change"] == "restored") {
            self.unlisted.insert(id);
        }
        self.learn(node, &text(&node["parent_id"]));
    }

    fn learn(&mut self, node: &Json, parent: &str) {
        let version = node["version_id"].as_str().map(str::to_owned);
        self.nodes.insert(text(&node["id"]), (parent.to_owned(), text(&node["name"]), version));
    }

    fn forget(&mut self, id: &str) {
        self.nodes.remove(id);
        self.unlisted.remove(id);
        let below: Vec<String> =
            self.nodes.iter().filter(|(_, known)| known.0 == id).map(|(id, _)| id.clone()).collect();
        for id in below {
            self.forget(&id);
        }
    }

    /// Lists a folder and all below it.
    async fn list(&mut self, drive: &Drive, folder: &str) {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let page = get(drive, &format!("folders/{}?limit=1000", self.path(&folder))).await;
            for entry in page["entries"].as_array().expect("a list") {
                self.learn(entry, &folder);
                if entry["kind"] == "folder" {
                    folders.push(text(&entry["id"]));
                }
            }
        }
    }

    fn leads_to_the_root(&self, id: &str) -> bool {
        let mut at = id;
        while let Some((parent, ..)) = self.nodes.get(at) {
            at = parent;
        }
        at == self.root
    }

    /// The path of a node in the copy.
    fn path(&self, id: &str) -> String {
        let (mut names, mut at) = (Vec::new(), id);
        while let Some((parent, name, _)) = self.nodes.get(at) {
            // Names in these tests have spaces, and nothing else that must be encoded.
            names.push(name.replace(' ', "%20"));
            at = parent;
        }
        names.reverse();
        names.join("/")
    }
}

async fn get(drive: &Drive, path: &str) -> Json {
    let answer = drive.send(drive.plain(), drive.request("GET", path, b"")).await;
    assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    serde_json::from_slice(&answer.body).expect("JSON")
}

fn text(value: &Json) -> String {
    value.as_str().expect("a text").to_owned()
}
