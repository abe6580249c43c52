//! Ten thousand nodes: what the budgets promise of any tree, and of a folder of any length.
//!
//! Copies make them in a few requests. Their names are unlike those of other tests, which search the same space.

use std::collections::HashSet;

use ledge_tests::{Dav, Drive, Reply};
use serde_json::{Value, json};

/// So many folders lie in each other in a tree of a hundred nodes, and so many files.
const CHAIN: usize = 10;
const FILES: usize = 90;

fn ok(operations: &Value) -> Reply {
    let reply = Drive::batch(operations);
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    reply
}

/// `qzj-0/qzj-1/…`, so many deep.
fn chain(depth: usize) -> String {
    (0..depth).map(|n| format!("qzj-{n}")).collect::<Vec<_>>().join("/")
}

/// A folder `all` with a hundred trees of a hundred nodes each, up to ten deep: 10,001 nodes.
fn ten_thousand_nodes() -> Drive {
    let drive = Drive::new();
    for depth in 1..=CHAIN {
        assert_eq!(drive.make_folder(&chain(depth)).status, 201);
    }
    assert_eq!(drive.put("qzj-file", "content").status, 201);
    let files: Vec<Value> = (0..FILES)
        .map(|n| {
            let folder = drive.path(&chain(1 + n % CHAIN));
            json!({"op": "copy", "path": drive.path("qzj-file"), "to": {"parent": folder, "name": format!("qzj-file-{n}")}})
        })
        .collect();
    ok(&json!(files));
    assert_eq!(drive.make_folder("all").status, 201);
    let trees: Vec<Value> = (0..100)
        .map(|n| {
            json!({"op": "copy", "path": drive.path("qzj-0"),
                   "to": {"parent": drive.path("all"), "name": format!("qzj-tree-{n:02}")}})
        })
        .collect();
    let made = ok(&json!(trees));
    assert_eq!(made.cost(), (2, 0), "10,000 nodes are copied");
    drive
}

/// Looks at the tops of all trees, and at three of the trees as a whole.
fn check_trees(drive: &Drive, at: &str) {
    let tops: Vec<String> = (0..100).map(|n| format!("qzj-tree-{n:02}")).collect();
    assert_eq!(drive.names(at), tops);
    for top in ["qzj-tree-00", "qzj-tree-57", "qzj-tree-99"] {
        let mut folder = format!("{at}/{top}");
        for depth in 0..CHAIN {
            let mut names: Vec<String> =
                (depth..FILES).step_by(CHAIN).map(|n| format!("qzj-file-{n}")).collect();
            names.extend((depth + 1 < CHAIN).then(|| format!("qzj-{}", depth + 1)));
            names.sort();
            assert_eq!(drive.names(&folder), names, "{folder}");
            folder += &format!("/qzj-{}", depth + 1);
        }
    }
    assert_eq!(drive.get(&format!("{at}/qzj-tree-42/{}/qzj-file-89", chain_below())).body, b"content");
}

/// From the top of a tree to its deepest folder.
fn chain_below() -> String {
    chain(CHAIN).trim_start_matches("qzj-0/").to_owned()
}

#[test]
fn ten_thousand_nodes_are_copied_moved_deleted_and_restored_in_two_round_trips() {
    let drive = ten_thousand_nodes();
    check_trees(&drive, "all");
    let copied = ok(&json!([{"op": "copy", "path": drive.path("all"), "to": {"name": "copy"}}]));
    assert_eq!((copied.cost(), copied.stored_bytes()), ((2, 0), 0), "copied");
    check_trees(&drive, "copy");

    assert_eq!(drive.make_folder("there").status, 201);
    let to = json!({"parent": drive.path("there"), "name": "moved"});
    let moved = ok(&json!([{"op": "move", "path": drive.path("all"), "to": to}]));
    assert_eq!(moved.cost(), (2, 0), "moved");
    assert_eq!(drive.list("all", "").status, 404);
    check_trees(&drive, "there/moved");

    let deleted = drive.delete_folder("there/moved");
    assert_eq!((deleted.status, deleted.cost()), (204, (2, 0)), "deleted");
    let inside = format!("there/moved/qzj-tree-00/{}/qzj-file-9", chain_below());
    assert_eq!((drive.names("there"), drive.get(&inside).status), (Vec::new(), 404));
    let id = moved.json()["results"][0]["id"].as_str().unwrap().to_owned();
    let restored = Reply::to(Drive::in_space("POST", &format!("trash/{id}/restore")));
    assert_eq!((restored.status, restored.cost()), (200, (2, 0)), "restored");
    check_trees(&drive, "there/moved");

    let copy = |name: &str| json!({"op": "copy", "path": drive.path("copy"), "to": {"name": name}});
    let more = Drive::batch(&json!([copy("once"), copy("twice")]));
    more.expect_problem(413, "too_many_nodes");
    assert!(more.json()["detail"].as_str().unwrap().contains("20000"), "it names the limit");
    assert_eq!(drive.names(""), ["copy", "qzj-0", "qzj-file", "there"], "nothing was copied");
}

#[test]
fn thirty_thousand_nodes_are_copied_and_purged_by_jobs_over_rest_and_webdav() {
    let drive = ten_thousand_nodes();
    assert_eq!(drive.make_folder("big").status, 201);
    let to = |name: &str| json!({"parent": drive.path("big"), "name": name});
    for name in ["0", "1"] {
        ok(&json!([{"op": "copy", "path": drive.path("all"), "to": to(name)}]));
    }
    ok(&json!([{"op": "move", "path": drive.path("all"), "to": to("2")}]));

    let body = json!({"operations": [{"op": "copy", "path": drive.path("big"), "to": {"name": "copied"}}]});
    let copy = || {
        let request = Drive::in_space("POST", "nodes/batch").header("idempotency-key", drive.path("copied"));
        Reply::to(request.body(body.to_string()))
    };
    let (accepted, again) = (copy(), copy());
    assert_eq!((again.status, again.header("idempotency-replayed")), (202, "true"));
    assert_eq!(again.header("location"), accepted.header("location"));
    assert_eq!((&accepted.json()["kind"], &accepted.json()["state"]), (&json!("copy"), &json!("pending")));
    assert_eq!(accepted.cost(), (3, 0));
    let job = Drive::finished(&accepted);
    assert_eq!((&job["state"], &job["error"]), (&json!("done"), &json!(null)));
    assert_eq!(job["result"]["name"], "copied");
    assert_eq!(job["progress"]["items_done"], 30_003);
    for part in ["0", "1", "2"] {
        check_trees(&drive, &format!("copied/{part}"));
    }

    // Over what is there: that goes into the trash, and is purged.
    let dav = Dav { rest: drive.clone() };
    let job = Drive::finished(&dav.transfer("COPY", "big", "copied").send());
    assert_eq!(job["state"], "done", "{job}");
    check_trees(&drive, "copied/1");
    let replaced = job["result"]["replaced_id"].as_str().unwrap();
    let purged = Reply::to(Drive::in_space("DELETE", &format!("trash/{replaced}")));
    assert_eq!(purged.cost(), (3, 0));
    Reply::to(Drive::in_space("POST", &format!("trash/{replaced}/restore"))).expect_problem(404, "not_found");
    let job = Drive::finished(&purged);
    assert_eq!((&job["state"], &job["progress"]["items_done"]), (&json!("done"), &json!(30_004)));
    check_trees(&drive, "copied/2");
}

#[test]
fn a_folder_of_ten_thousand_files_is_listed_in_pages_of_a_thousand_in_every_order() {
    let drive = Drive::new();
    // 25 files of 5 sizes and 7 times, and 400 copies of each.
    for n in 0..25 {
        let put = format!("qzj-{n}?modified_at=2001-01-0{}T00:00:00Z", 1 + n % 7);
        assert_eq!(drive.put(&put, vec![b'x'; n % 5]).status, 201);
    }
    assert_eq!(drive.make_folder("all").status, 201);
    let mut files: HashSet<String> = HashSet::new();
    for batch in 0..10 {
        let copies: Vec<Value> = (0..1000)
            .map(|n| {
                // Names that don't come in the order in which they are made.
                let name = format!("qzj-{:05}", (batch * 1000 + n) * 7919 % 10_000);
                files.insert(name.clone());
                json!({"op": "copy", "path": drive.path(&format!("qzj-{}", n % 25)),
                       "to": {"parent": drive.path("all"), "name": name}})
            })
            .collect();
        assert_eq!(ok(&json!(copies)).cost(), (2, 0));
    }
    assert_eq!(files.len(), 10_000);
    for (sort, key) in [
        ("name", (|entry| entry["name"].as_str().unwrap().to_owned()) as fn(&Value) -> String),
        ("size", |entry| format!("{} {}", entry["size_bytes"], entry["id"].as_str().unwrap())),
        ("modified_at", |entry| {
            format!("{} {}", entry["modified_at"].as_str().unwrap(), entry["id"].as_str().unwrap())
        }),
    ] {
        let up = all_pages(&drive, &format!("sort={sort}"));
        assert!(up.is_sorted_by_key(key), "{sort}");
        let names: HashSet<String> =
            up.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect();
        assert_eq!((up.len(), names == files), (10_000, true), "{sort}: complete, each once");
        let mut down = all_pages(&drive, &format!("sort={sort}&order=desc"));
        down.reverse();
        assert!(up == down, "{sort}: both directions are the same order");
    }
}

/// The entries of all pages of `all`.
fn all_pages(drive: &Drive, query: &str) -> Vec<Value> {
    let (mut entries, mut cursor) = (Vec::new(), String::new());
    loop {
        let reply = drive.list("all", &format!("?limit=1000&{query}{cursor}"));
        assert_eq!((reply.status, reply.cost()), (200, (1, 0)), "{query}");
        let page = reply.json();
        let of_page = page["entries"].as_array().unwrap();
        assert_eq!(of_page.len(), 1000, "{query}");
        entries.extend(of_page.iter().cloned());
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return entries,
        }
    }
}
