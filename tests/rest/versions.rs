//! The history of a file: listed, read, restored, labelled, deleted.

use ledge_tests::{Drive, Reply, noise};
use serde_json::{Value, json};

fn url(drive: &Drive, path: &str) -> String {
    drive.file_url(path).replacen("/files/", "/versions/", 1)
}

fn list(drive: &Drive, path: &str) -> Vec<Value> {
    let reply = Reply::to(Drive::signed("GET", &url(drive, path)));
    assert_eq!(reply.status, 200);
    reply.json()["versions"].as_array().unwrap().clone()
}

fn ids(versions: &[Value]) -> Vec<String> {
    versions.iter().map(|version| version["id"].as_str().unwrap().to_owned()).collect()
}

fn restore(drive: &Drive, path: &str, version: &str) -> Reply {
    Reply::to(Drive::signed("POST", &url(drive, path)).body(json!({ "restore": version }).to_string()))
}

fn delete(drive: &Drive, path: &str, version: &str) -> Reply {
    Reply::to(Drive::signed("DELETE", &format!("{}?version={version}", url(drive, path))))
}

fn label(drive: &Drive, path: &str, version: &str, label: &Value) -> Reply {
    let url = format!("{}?version={version}", url(drive, path));
    Reply::to(Drive::signed("PATCH", &url).body(json!({ "label": label }).to_string()))
}

#[test]
fn the_history_is_listed_newest_first_in_pages_of_one_round_trip() {
    let drive = Drive::new();
    let contents: Vec<String> = (0..7).map(|n| "x".repeat(n + 1)).collect();
    for content in &contents {
        assert!(matches!(drive.put("a.txt", content.clone()).status, 201 | 204));
    }
    let all = list(&drive, "a.txt");
    let sizes: Vec<u64> = all.iter().map(|version| version["size_bytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [7, 6, 5, 4, 3, 2, 1]);
    let current: Vec<bool> = all.iter().map(|version| version["current"].as_bool().unwrap()).collect();
    assert_eq!(current, [true, false, false, false, false, false, false]);
    assert_eq!(all[0]["etag"], drive.get("a.txt").header("etag"));
    assert_eq!((&all[0]["media_type"], &all[0]["label"]), (&json!("text/plain"), &Value::Null));

    let (mut paged, mut cursor) = (Vec::new(), String::new());
    for page in 0.. {
        let query = if page == 0 { "?limit=3".to_owned() } else { format!("?limit=3&cursor={cursor}") };
        let reply = Reply::to(Drive::signed("GET", &(url(&drive, "a.txt") + &query)));
        assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
        paged.extend(reply.json()["versions"].as_array().unwrap().clone());
        match reply.json()["next"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => {
                assert_eq!(page, 2);
                break;
            }
        }
    }
    assert_eq!(paged, all);
}

#[test]
fn a_limit_a_cursor_and_parameters_are_checked() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "x").status, 201);
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("cursor=", "cursor"),
        ("cursor=!", "cursor"),
        ("cursor=eHg", "cursor"),
        ("at=now", "query"),
    ] {
        let reply = Reply::to(Drive::signed("GET", &format!("{}?{query}", url(&drive, "a"))));
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{query}");
    }
    for (query, field) in [
        ("version=1", "version"),
        ("at=yesterday", "at"),
        ("at=2026-01-01T00:00:00Z&version=018f0000-0000-7000-8000-000000000000", "at"),
    ] {
        let reply = drive.get(&format!("a?{query}"));
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{query}");
    }
    for (body, field) in [
        ("", "body"),
        ("[]", "body"),
        ("{}", "restore"),
        ("{\"restore\":7}", "restore"),
        ("{\"restore\":\"x\"}", "restore"),
        ("{\"restored\":\"x\"}", "body"),
    ] {
        let reply = Reply::to(Drive::signed("POST", &url(&drive, "a")).body(body));
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{body}");
    }
    let large = Reply::to(Drive::signed("POST", &url(&drive, "a")).body(" ".repeat(100_000)));
    large.expect_problem(400, "invalid");
    assert_eq!(Reply::to(Drive::signed("PUT", &url(&drive, "a"))).status, 405);
}

#[test]
fn what_has_no_history_is_not_found() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "x").status, 201);
    assert_eq!(drive.put("b", "x").status, 201);
    assert_eq!(drive.make_folder("dir").status, 201);
    Reply::to(Drive::signed("GET", &url(&drive, "none"))).expect_problem(404, "not_found");
    Reply::to(Drive::signed("GET", &url(&drive, "none/a"))).expect_problem(404, "not_found");
    Reply::to(Drive::signed("GET", &url(&drive, "dir"))).expect_problem(409, "is_a_folder");
    let other = &ids(&list(&drive, "b"))[0];
    let unknown = "018f0000-0000-7000-8000-000000000000";
    for version in [other, unknown] {
        drive.get(&format!("a?version={version}")).expect_problem(404, "not_found");
        restore(&drive, "a", version).expect_problem(404, "not_found");
        delete(&drive, "a", version).expect_problem(404, "not_found");
        label(&drive, "a", version, &json!("x")).expect_problem(404, "not_found");
    }
}

#[test]
fn an_older_version_reads_like_the_file_in_one_round_trip() {
    let drive = Drive::new();
    let (old, new) = (noise(40_001, 3 << 20), noise(40_002, 5000));
    for content in [&old, &new, &b"small".to_vec()] {
        assert!(matches!(drive.put("a.bin", content.clone()).status, 201 | 204));
    }
    let [small, _, first] = ids(&list(&drive, "a.bin")).try_into().unwrap();
    let path = format!("a.bin?version={first}");
    let whole = drive.get(&path);
    assert_eq!((whole.status, whole.cost()), (200, (1, 1)));
    assert!(whole.body == old);
    let etag = whole.header("etag");
    assert_ne!(etag, drive.get("a.bin").header("etag"));

    let part = drive.get_with(&path, "range", "bytes=1000000-1999999");
    assert_eq!((part.status, part.cost()), (206, (1, 1)));
    assert!(part.body == old[1_000_000..2_000_000]);
    let parts = drive.get_with(&path, "range", "bytes=0-9,100-199");
    assert!(parts.header("content-type").starts_with("multipart/byteranges"));
    assert_eq!(drive.get_with(&path, "range", "bytes=9999999-").status, 416);
    let head = Reply::to(drive.request("HEAD", &path));
    assert_eq!((head.status, head.header("content-length"), head.cost()), (200, "3145728", (1, 0)));
    assert_eq!(drive.get_with(&path, "if-none-match", etag).status, 304);
    assert_eq!(drive.get_with(&path, "if-match", "\"other\"").status, 412);
    let download = drive.get(&format!("{path}&download"));
    assert!(download.header("content-disposition").starts_with("attachment"));
    assert_eq!(drive.get(&format!("a.bin?version={small}")).body, b"small");
    assert_eq!(drive.get("a.bin").body, b"small");
}

#[test]
fn a_file_reads_as_of_a_time_in_one_round_trip() {
    let drive = Drive::new();
    for n in 0..3 {
        let content = noise(n, if n == 1 { 300_000 } else { 10 });
        assert!(matches!(drive.put("a", content).status, 201 | 204));
    }
    let versions = list(&drive, "a");
    for (version, seed) in versions.iter().zip([2, 1, 0]) {
        let reply = drive.get(&format!("a?at={}", version["created_at"].as_str().unwrap()));
        assert_eq!((reply.status, reply.cost().0), (200, 1));
        assert!(reply.body == noise(seed, if seed == 1 { 300_000 } else { 10 }));
        assert_eq!(reply.header("etag"), version["etag"]);
    }
    drive.get("a?at=2000-01-01T00:00:00Z").expect_problem(404, "not_found");
    assert_eq!(drive.get("a?at=9999-01-01T00:00:00Z").body, noise(2, 10));
}

#[test]
fn restoring_makes_a_new_version_and_moves_no_byte() {
    let drive = Drive::new();
    let old = noise(40_007, 2 << 20);
    assert_eq!(drive.put("a", old.clone()).status, 201);
    assert_eq!(drive.put("a", "new").status, 204);
    let before = list(&drive, "a");
    let first = before[1]["id"].as_str().unwrap();
    let reply = restore(&drive, "a", first);
    assert_eq!((reply.status, reply.cost(), reply.stored_bytes()), (201, (2, 0), 0));
    let file = reply.json();
    assert_eq!((&file["etag"], &file["size_bytes"]), (&before[1]["etag"], &json!(old.len())));
    assert_eq!(reply.header("etag"), before[1]["etag"]);
    let read = drive.get("a");
    assert!(read.body == old);
    assert_eq!(read.header("last-modified"), reply.header("last-modified"));
    assert!(Reply::to(Drive::signed("GET", &Drive::absolute(reply.header("location")))).body == old);

    let after = list(&drive, "a");
    assert_eq!(after.len(), 3);
    assert_eq!((&after[0]["id"], &after[0]["current"]), (&file["version_id"], &json!(true)));
    assert_eq!(ids(&after[1..]), ids(&before));
}

#[test]
fn restoring_honours_conditions_on_the_current_version() {
    let drive = Drive::new();
    let first = drive.put("a", "one");
    let second = drive.put("a", "two");
    let version = ids(&list(&drive, "a"))[1].clone();
    let with = |header: &str, value: &str| {
        let body = json!({ "restore": version });
        Reply::to(Drive::signed("POST", &url(&drive, "a")).header(header, value).body(body.to_string()))
    };
    with("if-match", first.header("etag")).expect_problem(412, "precondition_failed");
    with("if-none-match", "*").expect_problem(412, "precondition_failed");
    assert_eq!(drive.get("a").body, b"two");
    assert_eq!(with("if-match", second.header("etag")).status, 201);
    assert_eq!(drive.get("a").body, b"one");
}

#[test]
fn of_many_that_restore_with_the_same_if_match_one_wins() {
    let drive = Drive::new();
    drive.put("a", "one");
    let second = drive.put("a", "two");
    let version = ids(&list(&drive, "a"))[1].clone();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..10)
            .map(|_| {
                let request = Drive::signed("POST", &url(&drive, "a"))
                    .header("if-match", second.header("etag"))
                    .body(json!({ "restore": version }).to_string());
                scope.spawn(move || Reply::to(request).status)
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 412).count(), 9, "{statuses:?}");
    assert_eq!(list(&drive, "a").len(), 3);
}

#[test]
fn a_label_is_set_kept_and_cleared() {
    let drive = Drive::new();
    drive.put("a", "one");
    drive.put("a", "two");
    let version = ids(&list(&drive, "a"))[1].clone();
    let reply = label(&drive, "a", &version, &json!("as sent to the printer"));
    assert_eq!((reply.status, reply.cost()), (200, (2, 0)));
    assert_eq!(reply.json()["label"], "as sent to the printer");
    drive.put("a", "three");
    assert_eq!(list(&drive, "a")[2]["label"], "as sent to the printer");
    assert_eq!(label(&drive, "a", &version, &Value::Null).status, 200);
    assert_eq!(list(&drive, "a")[2]["label"], Value::Null);
    for bad in [json!(""), json!("x".repeat(256)), json!("a\nb"), json!(7)] {
        let reply = label(&drive, "a", &version, &bad);
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], "label");
    }
    let nothing = Drive::signed("PATCH", &format!("{}?version={version}", url(&drive, "a"))).body("{}");
    Reply::to(nothing).expect_problem(400, "invalid");
}

#[test]
fn an_older_version_is_deleted_and_the_current_one_is_not() {
    let drive = Drive::new();
    let large = noise(40_009, 200_000);
    drive.put("a", large.clone());
    drive.put("a", "two");
    let [current, first] = ids(&list(&drive, "a")).try_into().unwrap();
    // Two versions share one blob now: it stays with either.
    assert_eq!(restore(&drive, "a", &first).status, 201);
    let gone = delete(&drive, "a", &first);
    assert_eq!((gone.status, gone.cost()), (204, (2, 0)));
    delete(&drive, "a", &first).expect_problem(404, "not_found");
    assert!(drive.get("a").body == large);
    drive.get(&format!("a?version={first}")).expect_problem(404, "not_found");
    let now = ids(&list(&drive, "a"));
    delete(&drive, "a", &now[0]).expect_problem(409, "current_version");
    assert_eq!(delete(&drive, "a", &current).status, 204);
    assert_eq!(ids(&list(&drive, "a")), now[..1]);
    assert!(drive.get("a").body == large);
}
