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
    assert_eq!((&first["size_bytes"], &first["etag"]), (&Value::Null, &Value::Null));
    for member in ["id", "name", "kind", "size_bytes", "etag", "media_type", "version_id"] {
        assert_eq!(second[member], file[member], "{member}");
    }
    assert_eq!(second["modified_at"], "1994-11-06T08:49:37.050Z");
    assert_eq!(drive.list("a/", "").json()["folder"]["name"], "a");
    assert_ne!(drive.list("", "").header("etag"), drive.list("a", "").header("etag"));

    drive.list("missing", "").expect_problem(404, "not_found");
    drive.list("b%22%5C.jpg", "").expect_problem(409, "not_a_folder");
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
