//! Folders.

use ledge_tests::{Drive, Reply};
use serde_json::Value;

fn names(page: &Value) -> Vec<String> {
    let entries = page["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

/// Every page of a listing, by cursor.
fn all_names(drive: &Drive, query: &str) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let reply = drive.list("", &format!("?{query}{cursor}"));
        assert_eq!(reply.status, 200, "{query}");
        let page = reply.json();
        found.extend(names(&page));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

#[test]
fn a_folder_is_made_once_and_found_after() {
    let drive = Drive::new();
    let made = drive.make_folder("photos");
    assert_eq!(made.status, 201);
    let folder = made.json();
    assert_eq!((folder["name"].as_str(), folder["kind"].as_str()), (Some("photos"), Some("folder")));
    let found = drive.make_folder("photos/");
    assert_eq!(found.status, 200);
    assert_eq!(found.json()["id"], folder["id"]);
}

#[test]
fn a_folder_needs_its_parent_and_a_free_name() {
    let drive = Drive::new();
    drive.make_folder("a/b").expect_problem(409, "parent_missing");
    assert_eq!(drive.put("file", "x").status, 201);
    drive.make_folder("file").expect_problem(409, "is_a_file");
    drive.make_folder("file/below").expect_problem(409, "not_a_folder");
    drive.put("file/below", "x").expect_problem(409, "not_a_folder");
    drive.put("none/below", "x").expect_problem(409, "parent_missing");
    assert_eq!(drive.make_folder("dir").status, 201);
    drive.put("dir", "x").expect_problem(409, "is_a_folder");
    drive.get("dir").expect_problem(409, "is_a_folder");
}

#[test]
fn twins_by_normal_form_are_one_folder() {
    let drive = Drive::new();
    let made = drive.make_folder("cafe%CC%81");
    let found = drive.make_folder("caf%C3%A9");
    assert_eq!((made.status, found.status), (201, 200));
    assert_eq!(made.json()["id"], found.json()["id"]);
    assert_eq!(drive.put("caf%C3%A9/x", "1").status, 201);
    assert_eq!(drive.get("cafe%CC%81/x").body, b"1");
}

#[test]
fn a_listing_says_what_is_in_the_folder() {
    let drive = Drive::new();
    assert_eq!(drive.list("", "").json()["entries"], serde_json::json!([]));
    let file = drive.put("b%22%5C.jpg?modified_at=1994-11-06T08:49:37.050Z", "12345").json();
    let folder = drive.make_folder("a").json();
    assert_eq!(drive.put("a/below", "x").status, 201);

    let reply = drive.list("", "");
    assert_eq!(reply.cost(), (1, 0));
    let page = reply.json();
    assert_eq!(names(&page), ["a", "b\"\\.jpg"]);
    assert_eq!(page["next"], Value::Null);
    let (first, second) = (&page["entries"][0], &page["entries"][1]);
    assert_eq!((&first["id"], &first["kind"]), (&folder["id"], &Value::from("folder")));
    assert_eq!(first["size_bytes"], Value::Null);
    assert_eq!(first["etag"], drive.list("a", "").json()["folder"]["etag"]);
    for member in ["id", "name", "kind", "size_bytes", "etag", "media_type", "version_id"] {
        assert_eq!(second[member], file[member], "{member}");
    }
    assert_eq!(second["modified_at"], "1994-11-06T08:49:37.050Z");
    assert_eq!(drive.list("a/", "").json()["folder"]["name"], "a");
    assert_ne!(drive.list("", "").header("etag"), drive.list("a", "").header("etag"));

    drive.list("missing", "").expect_problem(404, "not_found");
    drive.list("b%22%5C.jpg", "").expect_problem(409, "not_a_folder");
}

fn folder_id(drive: &Drive, path: &str) -> Value {
    drive.list(path, "").json()["folder"]["id"].clone()
}

/// A folder's entity tag, which its listing, its page of a listing and HEAD agree on.
fn etag(drive: &Drive, path: &str) -> String {
    let reply = drive.list(path, "?limit=1&sort=size");
    assert_eq!(reply.status, 200, "{path}");
    let etag = reply.header("etag").to_owned();
    assert!(etag.len() > 2 && etag.starts_with('"') && etag.ends_with('"'), "{etag}");
    assert_eq!(reply.json()["folder"]["etag"], etag.as_str());
    assert_eq!(drive.list(path, "").header("etag"), etag);
    let head = drive.folder_request("HEAD", path);
    assert_eq!(Reply::to(head).header("etag"), etag);
    etag
}

#[test]
fn a_folders_entity_tag_changes_with_everything_below_and_with_nothing_else() {
    let drive = Drive::new();
    for folder in ["a", "a/b", "a/b/c", "other"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    let mut before = [etag(&drive, "a"), etag(&drive, "a/b"), etag(&drive, "other")];
    // What is done, and which of the three folders it changes.
    let mut after = |what: &str, reply: Reply, changed: [bool; 3]| {
        assert!(reply.status < 300, "{what}: {}", String::from_utf8_lossy(&reply.body));
        let now = [etag(&drive, "a"), etag(&drive, "a/b"), etag(&drive, "other")];
        for at in 0..3 {
            assert_eq!(now[at] != before[at], changed[at], "{what}: folder {at}");
        }
        before = now;
        reply
    };
    let deep = [true, true, false];
    after("reading", drive.list("a/b/c", ""), [false; 3]);
    after("a folder that is there", drive.make_folder("a/b/c"), [false; 3]);
    after("a new file", drive.put("a/b/c/x", "1"), deep);
    after("a save", drive.put("a/b/c/x", "2"), deep);
    after("a new folder", drive.make_folder("a/b/c/d"), deep);
    let version = |reply: &Reply| reply.json()["versions"][1]["id"].as_str().unwrap().to_owned();
    let older = version(&Reply::to(drive.version_request("GET", "a/b/c/x", "")));
    let query = format!("?version={older}");
    let label = drive.version_request("PATCH", "a/b/c/x", &query).body("{\"label\":\"l\"}");
    after("a label", Reply::to(label), deep);
    let restore = format!("{{\"restore\":\"{older}\"}}");
    after("an old version", Reply::to(drive.version_request("POST", "a/b/c/x", "").body(restore)), deep);
    after("a version's end", Reply::to(drive.version_request("DELETE", "a/b/c/x", &query)), deep);
    let batch = |operation: Value| Drive::batch(&serde_json::json!([operation]));
    let to = |parent: &str, name: &str| serde_json::json!({"parent": drive.path(parent), "name": name});
    let operation =
        |op: &str, path: &str, to: Value| serde_json::json!({"op": op, "path": drive.path(path), "to": to});
    after("a rename", batch(operation("move", "a/b/c/x", to("a/b/c", "y"))), deep);
    after("a move away", batch(operation("move", "a/b/c/d", to("other", "d"))), [true; 3]);
    after("a copy", batch(operation("copy", "a/b/c", to("other", "c"))), [false, false, true]);
    after("a move one up", batch(operation("move", "a/b/c", to("a", "c"))), deep);
    after("a deletion", drive.delete("a/c/y"), [true, false, false]);
    let trash = Reply::to(Drive::in_space("GET", "trash?limit=1000")).json();
    let trashed = trash["entries"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["parent_id"] == folder_id(&drive, "a/c"));
    let id = trashed.unwrap()["id"].as_str().unwrap().to_owned();
    after(
        "a restore",
        Reply::to(Drive::in_space("POST", &format!("trash/{id}/restore"))),
        [true, false, false],
    );
    after("another deletion", drive.delete("a/c/y"), [true, false, false]);
    after("a purge", Reply::to(Drive::in_space("DELETE", &format!("trash/{id}"))), [false; 3]);
}

#[test]
fn the_root_of_a_space_is_a_folder() {
    let space = std::env::var("LEDGE_TEST_SPACE").unwrap();
    let root = format!("/api/v1/spaces/{space}/folders/");
    let page = Reply::to(Drive::signed("GET", &Drive::absolute(&root))).json();
    assert_eq!(page["folder"]["name"], "");
}

#[test]
fn pages_follow_each_other_in_every_order() {
    let drive = Drive::new();
    let sizes = [30, 7, 7, 500, 0, 30, 7];
    for (n, size) in sizes.iter().enumerate() {
        let put = format!("f{n}?modified_at=2001-01-0{}T00:00:00Z", 1 + size % 9);
        assert_eq!(drive.put(&put, vec![b'x'; *size]).status, 201);
    }
    for folder in ["g1", "e1"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    let by_name = ["e1", "f0", "f1", "f2", "f3", "f4", "f5", "f6", "g1"];
    for limit in [1, 2, 3, 8, 9, 10] {
        assert_eq!(all_names(&drive, &format!("limit={limit}")), by_name, "{limit}");
        let mut backwards = all_names(&drive, &format!("limit={limit}&order=desc"));
        backwards.reverse();
        assert_eq!(backwards, by_name, "{limit}");
        for sort in ["size", "modified_at"] {
            let up = all_names(&drive, &format!("limit={limit}&sort={sort}"));
            let mut down = all_names(&drive, &format!("limit={limit}&sort={sort}&order=desc"));
            down.reverse();
            assert_eq!(up, down, "{sort} by {limit}");
            assert_eq!(up, all_names(&drive, &format!("limit=1000&sort={sort}")), "{sort} by {limit}");
        }
    }
    let by_size = all_names(&drive, "sort=size");
    assert_eq!((by_size[2].as_str(), by_size[8].as_str()), ("f4", "f3"));
    assert_eq!(all_names(&drive, "kind=folder&limit=1"), ["e1", "g1"]);
    assert_eq!(all_names(&drive, "kind=file&limit=3").len(), sizes.len());
}

#[test]
fn a_listing_refuses_what_it_does_not_know() {
    let drive = Drive::new();
    for (query, field) in [
        ("?limit=0", "limit"),
        ("?limit=1001", "limit"),
        ("?limit=x", "limit"),
        ("?sort=colour", "sort"),
        ("?order=up", "order"),
        ("?kind=link", "kind"),
        ("?cursor=nonsense", "cursor"),
        ("?limit=1&limit=2", "limit"),
        ("?page=2", "query"),
    ] {
        let reply = drive.list("", query);
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{query}");
    }
    for name in ["a", "b"] {
        assert_eq!(drive.put(name, "x").status, 201);
    }
    let next = drive.list("", "?limit=1").json()["next"].as_str().unwrap().to_owned();
    drive.list("", &format!("?sort=size&cursor={next}")).expect_problem(400, "invalid");
    drive.list("", &format!("?order=desc&cursor={next}")).expect_problem(400, "invalid");
}

#[test]
fn a_listing_that_has_not_changed_is_not_sent_again() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("a").status, 201);
    let tag = etag(&drive, "");
    let get = |tag: &str| Reply::to(drive.folder_request("GET", "").header("if-none-match", tag));
    let same = get(&tag);
    assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, tag.as_str()));
    assert_eq!(same.cost(), (1, 0));
    assert_eq!(drive.put("a/below", "x").status, 201);
    assert_eq!(get(&tag).status, 200);
    let expected = |tag: &str| Reply::to(drive.folder_request("GET", "").header("if-match", tag));
    expected(&tag).expect_problem(412, "precondition_failed");
    assert_eq!(expected(&etag(&drive, "")).status, 200);
}

#[test]
fn a_folder_is_deleted_only_as_it_was_seen() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("a/b?parents=true").status, 201);
    let tag = etag(&drive, "a");
    assert_eq!(drive.put("a/b/x", "x").status, 201);
    let delete = |tag: &str| Reply::to(drive.folder_request("DELETE", "a").header("if-match", tag));
    delete(&tag).expect_problem(412, "precondition_failed");
    assert_eq!(drive.get("a/b/x").status, 200);
    let deleted = delete(&etag(&drive, "a"));
    assert_eq!((deleted.status, deleted.cost()), (204, (2, 0)));
    delete(&tag).expect_problem(404, "not_found");
}

#[test]
fn of_a_deletion_and_a_save_below_only_one_is_as_it_was_seen() {
    let drive = Drive::new();
    for round in 0..10 {
        let folder = format!("f{round}");
        assert_eq!(drive.make_folder(&folder).status, 201);
        let tag = etag(&drive, &folder);
        let (deleted, saved) = std::thread::scope(|scope| {
            let delete = scope
                .spawn(|| Reply::to(drive.folder_request("DELETE", &folder).header("if-match", &tag)).status);
            let save = scope.spawn(|| drive.put(&format!("{folder}/x"), "x").status);
            (delete.join().unwrap(), save.join().unwrap())
        });
        assert!(
            matches!((deleted, saved), (204, 409 | 404) | (412, 201)),
            "deletion {deleted}, save {saved}"
        );
    }
}

#[test]
fn a_folder_is_made_only_if_it_is_new_or_as_it_was_seen() {
    let drive = Drive::new();
    let put = |name: &str, value: &str| Reply::to(drive.folder_request("PUT", "a").header(name, value));
    put("if-match", "*").expect_problem(412, "precondition_failed");
    let made = put("if-none-match", "*");
    assert_eq!((made.status, made.header("etag")), (201, etag(&drive, "a").as_str()));
    assert_eq!(made.json()["etag"], made.header("etag"));
    put("if-none-match", "*").expect_problem(412, "precondition_failed");
    let found = put("if-match", made.header("etag"));
    assert_eq!((found.status, found.header("etag")), (200, made.header("etag")));
    assert_eq!(drive.put("a/x", "x").status, 201);
    put("if-match", made.header("etag")).expect_problem(412, "precondition_failed");
}

#[test]
fn folders_that_are_missing_on_the_way_are_made_too() {
    let drive = Drive::new();
    drive.make_folder("a/b/c").expect_problem(409, "parent_missing");
    let made = drive.make_folder("a/b/c?parents=true");
    assert_eq!((made.status, made.cost()), (201, (2, 0)));
    assert_eq!(made.json()["name"], "c");
    assert_eq!(drive.names("a/b"), ["c"]);
    assert_eq!(made.header("etag"), etag(&drive, "a/b/c"));
    let found = drive.make_folder("a/b/c?parents=true");
    assert_eq!((found.status, &found.json()["id"]), (200, &made.json()["id"]));
    assert_eq!(drive.make_folder("a/b/d/e/?parents=true").status, 201);
    assert_eq!(drive.names("a/b"), ["c", "d"]);

    assert_eq!(drive.put("a/file", "x").status, 201);
    drive.make_folder("a/file?parents=true").expect_problem(409, "is_a_file");
    drive.make_folder("a/file/b/c?parents=true").expect_problem(409, "not_a_folder");
    let reply = drive.make_folder("z?parents=maybe");
    reply.expect_problem(400, "invalid");
    assert_eq!(reply.json()["field"], "parents");
    let deep = vec!["d"; 127].join("/");
    assert_eq!(drive.make_folder(&format!("{deep}?parents=true")).status, 201);
    drive.make_folder(&format!("{deep}/d?parents=true")).expect_problem(400, "invalid");
}

#[test]
fn many_that_make_the_same_folders_at_once_find_each_others() {
    let drive = Drive::new();
    let ids: Vec<(u16, Value)> = std::thread::scope(|scope| {
        let made: Vec<_> = (0..8)
            .map(|n| {
                let (drive, path) = (drive.clone(), format!("a/b/c/{}?parents=true", n % 2));
                scope.spawn(move || {
                    let reply = drive.make_folder(&path);
                    (reply.status, reply.json()["id"].clone())
                })
            })
            .collect();
        made.into_iter().map(|made| made.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().filter(|(status, _)| *status == 201).count(), 2, "{ids:?}");
    assert_eq!(ids.iter().filter(|(status, _)| *status == 200).count(), 6, "{ids:?}");
    for n in 0..8 {
        assert_eq!(ids[n].1, ids[n % 2].1);
    }
    assert_eq!((drive.names(""), drive.names("a/b/c")), (vec!["a".to_owned()], vec!["0".into(), "1".into()]));
}
