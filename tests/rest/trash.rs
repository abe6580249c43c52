//! Deleting, and what becomes of what was deleted.

use std::thread;

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

/// The newest entry of the trash with this name; names here are unlike those of other tests.
fn find(name: &str) -> Option<Value> {
    let mut cursor = String::new();
    loop {
        let page = Reply::to(Drive::in_space("GET", &format!("trash?limit=1000{cursor}")));
        assert_eq!((page.status, page.cost()), (200, (1, 0)));
        let page = page.json();
        let found = page["entries"].as_array().unwrap().iter().find(|entry| entry["name"] == name).cloned();
        if found.is_some() {
            return found;
        }
        cursor = format!("&cursor={}", page["next"].as_str()?);
    }
}

fn restore(id: &Value, body: &Value) -> Reply {
    let request = Drive::in_space("POST", &format!("trash/{}/restore", id.as_str().unwrap()));
    Reply::to(if body.is_null() { request } else { request.body(body.to_string()) })
}

#[test]
fn a_deleted_file_is_gone_listed_and_restored_to_where_it_was() {
    let drive = Drive::new();
    let folder = drive.make_folder("f").json();
    let saved = drive.put("f/to-be-restored", "content").json();
    let deleted = drive.delete("f/to-be-restored");
    assert_eq!((deleted.status, deleted.body.len(), deleted.cost()), (204, 0, (2, 0)));
    assert_eq!(drive.get("f/to-be-restored").status, 404);
    drive.delete("f/to-be-restored").expect_problem(404, "not_found");
    let entry = find("to-be-restored").unwrap();
    assert_eq!(
        (&entry["id"], &entry["parent_id"], &entry["kind"]),
        (&saved["id"], &folder["id"], &json!("file"))
    );
    assert_eq!(entry["size_bytes"], 7);

    let restored = restore(&entry["id"], &Value::Null);
    assert_eq!((restored.status, restored.cost()), (200, (2, 0)));
    assert_eq!(restored.json()["parent_id"], folder["id"]);
    assert_eq!(drive.get("f/to-be-restored").body, b"content");
    assert_eq!(find("to-be-restored"), None);
    restore(&entry["id"], &Value::Null).expect_problem(404, "not_found");
}

#[test]
fn delete_takes_the_kind_that_the_url_names_and_its_conditions() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("f").status, 201);
    let old = drive.put("a", "old");
    let new = drive.put("a", "new");
    drive.delete("f").expect_problem(409, "is_a_folder");
    drive.delete_folder("a").expect_problem(409, "not_a_folder");
    let delete_if = |etag: &str| Reply::to(drive.request("DELETE", "a").header("if-match", etag));
    delete_if(old.header("etag")).expect_problem(412, "precondition_failed");
    assert_eq!(delete_if(new.header("etag")).status, 204);
    delete_if("*").expect_problem(404, "not_found");
    assert_eq!(drive.delete_folder("f/").status, 204);
}

#[test]
fn a_folder_goes_and_comes_back_with_all_that_is_in_it() {
    let drive = Drive::new();
    for folder in ["whole-tree", "whole-tree/b"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    let inner = drive.put("whole-tree/b/x", "x").json();
    assert_eq!(drive.delete_folder("whole-tree").status, 204);
    for path in ["whole-tree/b/x", "whole-tree"] {
        assert_eq!(drive.get(path).status, 404);
    }
    drive.put("whole-tree/y", "y").expect_problem(409, "parent_missing");
    let entry = find("whole-tree").unwrap();
    assert_eq!(entry["kind"], "folder");
    // What is below is reached only through the folder.
    restore(&inner["id"], &Value::Null).expect_problem(404, "not_found");
    Drive::batch(&json!([{"op": "move", "id": inner["id"], "to": {"parent": drive.path("")}}]))
        .expect_problem(404, "not_found");
    Drive::batch(&json!([{"op": "delete", "id": inner["id"]}])).expect_problem(404, "not_found");
    assert_eq!(restore(&entry["id"], &Value::Null).status, 200);
    assert_eq!(drive.get("whole-tree/b/x").body, b"x");
}

#[test]
fn a_name_that_is_taken_since_is_decided_by_the_conflict_rule() {
    let drive = Drive::new();
    assert_eq!(drive.put("taken-since.txt", "old").status, 201);
    assert_eq!(drive.delete("taken-since.txt").status, 204);
    assert_eq!(drive.put("taken-since.txt", "new").status, 201);
    let entry = find("taken-since.txt").unwrap();
    restore(&entry["id"], &Value::Null).expect_problem(409, "name_taken");
    let renamed = restore(&entry["id"], &json!({"conflict": "rename"}));
    assert_eq!(renamed.json()["name"], "taken-since (2).txt");
    assert_eq!(drive.get("taken-since%20(2).txt").body, b"old");

    assert_eq!(drive.delete("taken-since%20(2).txt").status, 204);
    let entry = find("taken-since (2).txt").unwrap();
    let replaced = restore(&entry["id"], &json!({"to": {"name": "taken-since.txt"}, "conflict": "replace"}));
    assert_eq!(replaced.status, 200);
    assert_eq!(drive.get("taken-since.txt").body, b"old");
    assert_eq!(find("taken-since.txt").unwrap()["id"], replaced.json()["replaced_id"]);
}

#[test]
fn a_parent_that_is_gone_is_named_and_another_place_will_do() {
    let drive = Drive::new();
    for folder in ["gone-parent", "gone-parent/sub", "other"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    assert_eq!(drive.put("gone-parent/sub/orphan-file", "x").status, 201);
    assert_eq!(drive.delete("gone-parent/sub/orphan-file").status, 204);
    assert_eq!(drive.delete_folder("gone-parent").status, 204);
    let entry = find("orphan-file").unwrap();
    let refused = restore(&entry["id"], &Value::Null);
    refused.expect_problem(409, "parent_gone");
    assert!(refused.json()["detail"].as_str().unwrap().contains("gone-parent"));
    restore(&entry["id"], &json!({"to": {"parent": drive.path("none")}}))
        .expect_problem(409, "parent_missing");
    assert_eq!(
        restore(&entry["id"], &json!({"to": {"parent": drive.path("other"), "name": "y"}})).status,
        200
    );
    assert_eq!(drive.get("other/y").body, b"x");
}

#[test]
fn the_trash_is_listed_in_pages_newest_first() {
    let drive = Drive::new();
    for n in 0..5 {
        assert_eq!(drive.put(&format!("paged-trash-{n}"), "x").status, 201);
        assert_eq!(drive.delete(&format!("paged-trash-{n}")).status, 204);
    }
    let (mut names, mut cursor) = (Vec::new(), String::new());
    while names.len() < 5 {
        let page = Reply::to(Drive::in_space("GET", &format!("trash?limit=2{cursor}"))).json();
        let entries = page["entries"].as_array().unwrap();
        assert!(entries.len() <= 2);
        let ours = entries.iter().filter_map(|entry| entry["name"].as_str());
        names.extend(ours.filter(|name| name.starts_with("paged-trash-")).map(str::to_owned));
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let newest_first: Vec<String> = (0..5).rev().map(|n| format!("paged-trash-{n}")).collect();
    assert_eq!(names, newest_first);
    for query in ["limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=WyJ4IiwxLCJhIl0", "other=1"] {
        Reply::to(Drive::in_space("GET", &format!("trash?{query}"))).expect_problem(400, "invalid");
    }
}

#[test]
fn of_ten_restores_of_one_node_one_wins() {
    let drive = Drive::new();
    assert_eq!(drive.put("restored-once", "x").status, 201);
    assert_eq!(drive.delete("restored-once").status, 204);
    let entry = find("restored-once").unwrap();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let all: Vec<_> =
            (0..10).map(|_| scope.spawn(|| restore(&entry["id"], &Value::Null).status)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 404).count(), 9, "{statuses:?}");
}

fn purge(id: &Value) -> Reply {
    Reply::to(Drive::in_space("DELETE", &format!("trash/{}", id.as_str().unwrap())))
}

#[test]
fn what_is_purged_is_gone_and_copies_stay() {
    let drive = Drive::new();
    for folder in ["purged-tree", "purged-tree/b"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    let large = ledge_tests::noise(91, 300_000);
    assert_eq!(drive.put("purged-tree/b/x", large.clone()).status, 201);
    assert_eq!(drive.put("purged-tree/y", "1").status, 201);
    assert_eq!(drive.put("purged-tree/y", "2").status, 204);
    let copy = json!([{"op": "copy", "path": drive.path("purged-tree/b"), "to": {"parent": drive.path("")}}]);
    assert_eq!(Drive::batch(&copy).status, 200);
    let living = drive.make_folder("purged-tree").json();
    purge(&living["id"]).expect_problem(404, "not_found");
    assert_eq!(drive.delete_folder("purged-tree").status, 204);
    let entry = find("purged-tree").unwrap();
    let purged = purge(&entry["id"]);
    assert_eq!((purged.status, purged.cost()), (204, (2, 0)));
    assert_eq!(find("purged-tree"), None);
    purge(&entry["id"]).expect_problem(404, "not_found");
    restore(&entry["id"], &Value::Null).expect_problem(404, "not_found");
    assert!(drive.get("b/x").body == large);
    Reply::to(Drive::in_space("DELETE", "trash/nonsense")).expect_problem(404, "not_found");
    Reply::to(Drive::in_space("GET", "trash/nonsense")).expect_problem(405, "method_not_allowed");
    Reply::to(Drive::in_space("POST", "trash/a/b")).expect_problem(404, "no_such_route");
}
