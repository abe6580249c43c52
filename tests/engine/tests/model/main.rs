//! Four clients whose requests run into each other, batch by batch, against a plain tree.
//!
//! A seed decides whose next batch runs: another client's whole request fits between what a client reads and what it
//! writes. The plain tree applies each operation at the moment at which it is committed. What the server answers must be
//! what the tree says of that moment; a refusal, what it says of one of the moments at which the request looked. After
//! each commit, the database must hold exactly the tree, and who follows the feed of changes must arrive at it.
//!
//! `LEDGE_TEST_SEED` runs one seed alone.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    reason = "test code"
)]

mod operations;
mod tree;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use ledge_core::ports::{Db, Statement, Value};
use ledge_engine_tests::{Answer, Batch, Drive, Follower, Pace, Random, check, pace, run};

use crate::operations::{CONTENT, DEEP, Maker, Operation};
use crate::tree::{Choice, Done, Node, Placed, TRASH, Tree, nfc};

const CLIENTS: usize = 4;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;
const OPERATIONS: usize = 600;
/// Met now and then.
const QUOTA: usize = 150;

/// A request under way.
struct Running<'a> {
    operation: Operation,
    answer: Pin<Box<dyn Future<Output = Answer> + 'a>>,
    /// What the tree says of each moment at which the request has looked: the answer, and whether it changes nothing.
    allowed: Vec<(tree::Answer, bool)>,
    /// What it found when it last read.
    seen_in_trash: Vec<String>,
    found: Option<(String, Option<String>)>,
}

#[test]
fn whatever_four_clients_do_at_once_the_drive_is_the_plain_tree() {
    let one = std::env::var("LEDGE_TEST_SEED").ok().map(|seed| seed.parse().expect("a number"));
    for seed in one.map_or(SEEDS, |seed| seed..=seed) {
        run(async move {
            println!("seed {seed}");
            let drive = Drive::new().await;
            let (tags, tree) = prepare(&drive).await;
            let statistics = interleave(&drive, &tags, tree, Random::new(seed)).await;
            println!("{statistics:?}");
            // A test that only ever sees refusals, or no races, proves nothing.
            assert!(statistics.committed > OPERATIONS / 4 && statistics.lost_races > 5, "{statistics:?}");
        });
    }
}

#[derive(Debug, Default)]
struct Statistics {
    committed: usize,
    refused: std::collections::BTreeMap<&'static str, usize>,
    lost_races: usize,
}

/// A chain of folders, a quota, and the entity tags of all contents.
async fn prepare(drive: &Drive) -> (Vec<String>, Tree) {
    let mut tags = Vec::new();
    for size in 0..CONTENT.len() {
        assert_eq!(drive.put("tags", &CONTENT[..size]).await.status, if size == 0 { 201 } else { 204 });
        let of_size = "select '\"' || etag || '\"' as it from blobs order by size_bytes desc limit 1";
        let Some(Value::Text(tag)) = drive.column(of_size).await.pop() else { unreachable!("it was saved") };
        tags.push(tag);
    }
    for (method, path) in [("DELETE", "files/tags"), ("DELETE", "trash")] {
        assert_eq!(drive.send(drive.plain(), drive.request(method, path, b"")).await.status, 204);
    }
    for depth in 1..=DEEP {
        let path = vec!["d"; depth].join("/");
        let made = drive.request("PUT", &format!("folders/{path}"), b"");
        assert_eq!(drive.send(drive.plain(), made).await.status, 201);
    }
    let quota = Statement::new("update spaces set quota_bytes = ?1").bind(QUOTA as u64);
    drive.ports.db.write(vec![quota]).await.unwrap();
    (tags, rows(drive).await)
}

async fn interleave(drive: &Drive, tags: &[String], mut tree: Tree, mut random: Random) -> Statistics {
    let paces: Vec<Pace> = (0..CLIENTS).map(|_| Pace::default()).collect();
    let platforms: Vec<_> = paces.iter().map(|one| pace(drive.plain(), one)).collect();
    let mut clients: Vec<Option<Running<'_>>> = (0..CLIENTS).map(|_| None).collect();
    let mut follower = Follower::new(drive).await;
    let mut statistics = Statistics::default();
    let mut begun = 0;
    while begun < OPERATIONS || clients.iter().any(Option::is_some) {
        let at = random.below(CLIENTS);
        if clients[at].is_none() {
            if begun == OPERATIONS {
                continue;
            }
            begun += 1;
            let operation = Maker { random: &mut random, tree: &tree }.operation();
            let request = operation.request(drive, tags);
            let answer = Box::pin(drive.send(&platforms[at], request));
            clients[at] = Some(Running {
                operation,
                answer,
                allowed: Vec::new(),
                seen_in_trash: Vec::new(),
                found: None,
            });
            continue;
        }
        let Some(client) = clients[at].as_mut() else { continue };
        let (answer, batch) = step(client, &paces[at]);
        let choice = Choice {
            names: names(answer.as_ref()),
            seen_in_trash: client.seen_in_trash.clone(),
            found: client.found.clone().filter(|_| batch != Some(Batch::Read)),
        };
        let mut after = tree.clone();
        let says = after.apply(&client.operation, &choice);
        if batch == Some(Batch::Written) {
            let answer = answer.unwrap_or_else(|| panic!("{:?} goes on after its commit", client.operation));
            let done = says.unwrap_or_else(|refusal| {
                panic!("{:?} was done, and the tree says {refusal:?}", client.operation)
            });
            let tops = tops(&client.operation, &done, &answer);
            let rows = rows(drive).await;
            after.bind(&rows, &tops);
            same(&client.operation, &after, &rows);
            check(drive).await;
            tree = after;
            statistics.committed += 1;
            if statistics.committed % 10 == 0 {
                look(drive, &tree).await;
                follower.catch_up(drive).await;
            }
            clients[at] = None;
            continue;
        }
        let changes_nothing = says.is_ok() && tree.is_same(&after);
        client.allowed.push((says, changes_nothing));
        match batch {
            Some(Batch::Read) => {
                client.seen_in_trash = tree.trashed();
                client.found = tree.find(&client.operation);
            }
            Some(Batch::Refused) => statistics.lost_races += 1,
            _ => {}
        }
        if let Some(answer) = answer {
            let code = allowed(client, &answer);
            *statistics.refused.entry(code).or_default() += 1;
            clients[at] = None;
        }
    }
    statistics
}

/// Lets a client's next batch run; its answer, if that was the last one.
fn step(client: &mut Running<'_>, pace: &Pace) -> (Option<Answer>, Option<Batch>) {
    let mut context = Context::from_waker(Waker::noop());
    pace.let_go();
    match client.answer.as_mut().poll(&mut context) {
        Poll::Ready(answer) => (Some(answer), pace.take()),
        Poll::Pending => {
            assert!(pace.waits(), "{:?} waits for something else than its next batch", client.operation);
            (None, pace.take())
        }
    }
}

fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap_or_default()
}

/// What an answer says became of each node: a batch's list, or the one of a restore.
fn results(answer: &Answer) -> Vec<serde_json::Value> {
    let body = json(answer);
    match body["results"].as_array() {
        Some(results) => results.clone(),
        None if body["op"].is_string() => vec![body],
        None => Vec::new(),
    }
}

fn names(answer: Option<&Answer>) -> Vec<String> {
    let results = answer.map(results).unwrap_or_default();
    results.iter().map(|result| result["name"].as_str().unwrap().to_owned()).collect()
}

/// Compares a success with what the tree says; the ids of copies are new to it.
fn tops(operation: &Operation, done: &Done, answer: &Answer) -> Vec<(String, String)> {
    let results = results(answer);
    let shown = (answer.status, results.len());
    assert_eq!(shown, (done.status, done.results.len()), "{operation:?}: {:?}", json(answer));
    let mut tops = Vec::new();
    for (Placed { id, name, parent, replaced }, result) in done.results.iter().zip(&results) {
        let text = |member: &str| result[member].as_str().map(str::to_owned);
        assert_eq!(text("name").as_ref(), Some(name), "{operation:?}");
        assert_eq!(text("parent_id").as_ref(), Some(parent), "{operation:?}");
        if Tree::is_fresh(id) {
            tops.push((id.clone(), text("id").unwrap()));
        } else {
            assert_eq!(text("id").as_ref(), Some(id), "{operation:?}");
        }
        if !replaced.as_deref().is_some_and(Tree::is_fresh) {
            assert_eq!(&text("replaced_id"), replaced, "{operation:?}");
        }
    }
    tops
}

/// Asserts that an answer without a commit is one that the tree has allowed while the request ran.
fn allowed(client: &Running<'_>, answer: &Answer) -> &'static str {
    let body = json(answer);
    let place = body["operation"].as_u64().map(|at| usize::try_from(at).unwrap());
    for (says, changes_nothing) in &client.allowed {
        match says {
            Ok(done) if done.status == answer.status && *changes_nothing => return "nothing to do",
            Err((status, code, at))
                if (*status, Some(*code), *at) == (answer.status, body["code"].as_str(), place) =>
            {
                return code;
            }
            _ => {}
        }
    }
    panic!(
        "{:?} was answered with {} {body}, allowed last were {:?}",
        client.operation,
        answer.status,
        client.allowed.iter().rev().take(3).collect::<Vec<_>>()
    );
}

/// The database, as a tree.
async fn rows(drive: &Drive) -> Tree {
    let batch = vec![
        Statement::new("select root_id, quota_bytes from spaces"),
        Statement::new("select id, parent_id, name, name_nfc, kind, version_id, trashed_from from nodes"),
        Statement::new(
            "select v.id, v.node_id, b.size_bytes from versions v join blobs b on b.id = v.blob_id",
        ),
    ];
    let results = drive.ports.db.read(batch).await.unwrap();
    let space = &results[0][0];
    let quota = space.integer_or_null("quota_bytes").unwrap().unwrap_or_default();
    let mut tree = Tree::new(space.text("root_id").unwrap(), usize::try_from(quota).unwrap());
    for row in &results[1] {
        let text = |column: &str| row.text_or_null(column).unwrap().map(str::to_owned);
        let (id, parent, name) = (text("id").unwrap(), text("parent_id").unwrap(), text("name").unwrap());
        assert_eq!(text("name_nfc").unwrap(), nfc(&name));
        if id == tree.root {
            continue;
        }
        let node = Node {
            parent: if parent.starts_with(TRASH) { TRASH.to_owned() } else { parent },
            name,
            is_folder: row.text("kind").unwrap() == "folder",
            current: text("version_id"),
            versions: std::collections::BTreeMap::new(),
            trashed_from: text("trashed_from"),
        };
        tree.nodes.insert(id, node);
    }
    for row in &results[2] {
        let size = usize::try_from(row.integer("size_bytes").unwrap()).unwrap();
        let node = tree.nodes.get_mut(row.text("node_id").unwrap()).unwrap();
        node.versions.insert(row.text("id").unwrap().to_owned(), size);
    }
    tree
}

fn same(operation: &Operation, tree: &Tree, rows: &Tree) {
    for id in tree.nodes.keys().chain(rows.nodes.keys()) {
        assert_eq!(rows.nodes.get(id), tree.nodes.get(id), "{id} after {operation:?}");
    }
    assert!(tree.used() <= tree.quota, "{operation:?}");
}

/// Looks at the drive as clients do: a listing and searches.
async fn look(drive: &Drive, tree: &Tree) {
    let page = drive.send(drive.plain(), drive.request("GET", "folders/?limit=1000", b"")).await;
    let listed = json(&page)["entries"].as_array().unwrap().clone();
    let listed: Vec<String> = listed.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect();
    let mut names: Vec<String> =
        tree.nodes.values().filter(|node| node.parent == tree.root).map(|node| node.name.clone()).collect();
    names.sort_by_key(|name| nfc(name));
    assert_eq!(listed, names);
    for query in ["a", "ca", "afe"] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let target = format!("search/?limit=200&q={query}{cursor}");
            let page = json(&drive.send(drive.plain(), drive.request("GET", &target, b"")).await);
            let hits = page["hits"].as_array().unwrap();
            found.extend(hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        found.sort();
        let holds = |node: &Node| {
            let folded = nfc(&node.name).replace('\u{e9}', "e");
            if query.len() < 3 { folded.starts_with(query) } else { folded.contains(query) }
        };
        let living = tree.nodes.iter().filter(|(id, node)| holds(node) && tree.depth(id).is_some());
        let living: Vec<String> = living.map(|(id, _)| id.clone()).collect();
        assert_eq!(found, living, "{query}");
    }
}
