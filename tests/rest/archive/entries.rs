//! What is in a ZIP file of the drive, without unpacking it.

use ledge_tests::zips::{Made, ZipMaker, zip_of};
use ledge_tests::{Drive, Reply, noise};
use serde_json::Value;

fn entries(drive: &Drive, path: &str) -> Reply {
    Reply::to(Drive::in_space("GET", &drive.below("entries", path)))
}

/// The entries of a page, by their names.
fn listed(reply: &Reply) -> Vec<(String, String)> {
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    let entries = reply.json()["entries"].as_array().unwrap().clone();
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    entries.iter().map(|entry| (text(entry, "name"), text(entry, "id"))).collect()
}

#[test]
fn a_zip_file_is_listed_and_its_entries_are_read() {
    let drive = Drive::new();
    let (large, text) = (noise(1, 3 << 20), "all work and no play ".repeat(5000));
    let mut code_page = Made::stored("", b"old");
    (code_page.flags, code_page.name) = (0, b"caf\x82".to_vec());
    let mut secret = Made::stored("secret", b"????????????");
    secret.flags |= 1;
    let zip = zip_of(&[
        Made::stored("docs/", b""),
        Made::stored("docs/large.bin", &large),
        Made::deflated("docs/text.txt", text.as_bytes()),
        Made::stored("你好", b""),
        code_page,
        secret,
        Made { method: 12, ..Made::stored("bzip", b"x") },
    ]);
    assert_eq!(drive.put("a.zip", zip.clone()).status, 201);
    let reply = entries(&drive, "a.zip");
    assert_eq!(reply.cost(), (1, 1), "the end of the file has it all");
    let found = listed(&reply);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["docs/", "docs/large.bin", "docs/text.txt", "你好", "café", "secret", "bzip"]);
    let page = reply.json();
    assert_eq!((&page["total"], &page["next"]), (&7.into(), &Value::Null));
    assert_eq!(reply.header("etag"), drive.get("a.zip").header("etag"));
    let of = |at: usize, name: &str| page["entries"][at][name].clone();
    assert_eq!((of(0, "kind"), of(1, "kind")), ("folder".into(), "file".into()));
    assert_eq!(
        (of(1, "method"), of(2, "method"), of(6, "method")),
        ("stored".into(), "deflated".into(), "12".into())
    );
    assert_eq!((of(1, "size_bytes"), of(2, "size_bytes")), (large.len().into(), text.len().into()));
    assert!(of(2, "packed_bytes").as_u64().unwrap() < 2000);
    assert_eq!((of(5, "is_encrypted"), of(1, "is_encrypted")), (true.into(), false.into()));
    assert_eq!(of(1, "modified_at"), "2024-01-01T12:00:00.000Z");

    let path = |at: usize| format!("a.zip?entry={}", found[at].1);
    let stored = entries(&drive, &path(1));
    assert!(stored.status == 200 && stored.body == large);
    assert_eq!(stored.header("content-disposition"), "inline; filename=\"large.bin\"");
    let deflated = entries(&drive, &path(2));
    assert!(deflated.status == 200 && deflated.body == text.as_bytes());
    assert_eq!(deflated.header("content-type"), "text/plain");
    assert_eq!(entries(&drive, &path(3)).body, b"");
    assert_eq!(entries(&drive, &path(4)).body, b"old");
    entries(&drive, &path(5)).expect_problem(422, "entry_unsupported");
    entries(&drive, &path(6)).expect_problem(422, "entry_unsupported");
    for (at, content) in [(1, large.as_slice()), (2, text.as_bytes())] {
        let request = |method: &str| Drive::in_space(method, &drive.below("entries", &path(at)));
        let part = Reply::to(request("GET").header("range", "bytes=1000-2000"));
        assert!(part.status == 206 && part.body == content[1000..=2000]);
        assert_eq!(part.header("content-range"), format!("bytes 1000-2000/{}", content.len()));
        let etag = part.header("etag").to_owned();
        assert_eq!(Reply::to(request("GET").header("if-none-match", &etag)).status, 304);
        let head = Reply::to(request("HEAD"));
        assert_eq!(head.header("content-length"), content.len().to_string());
        assert_eq!(head.header("etag"), etag);
        Reply::to(request("GET").header("range", "bytes=9999999-"))
            .expect_problem(416, "range_not_satisfiable");
        Reply::to(request("GET").header("if-match", "\"x\"")).expect_problem(412, "precondition_failed");
    }
    // What no directory has there.
    for (id, status) in
        [("1", 404), ("999999999999", 404), ("18446744073709551615", 404), ("x", 400), ("-1", 400)]
    {
        assert_eq!(entries(&drive, &format!("a.zip?entry={id}")).status, status, "{id}");
    }
}

#[test]
fn a_long_directory_is_listed_page_by_page_of_one_version() {
    let drive = Drive::new();
    let mut maker = ZipMaker::behind(&noise(5, 40_000));
    for n in 0..5_000 {
        maker.add(&Made::stored(&format!("{}{n}", "some long name ".repeat(10)), b""));
    }
    // All positions count from the beginning of the program, as some write them.
    assert_eq!(drive.put("a.zip", maker.finish()).status, 201);
    let (mut names, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let reply = entries(&drive, &format!("a.zip?limit=1000{cursor}"));
        assert!(reply.cost().0 <= 2, "{:?}", reply.cost());
        names.extend(listed(&reply).into_iter().map(|(name, _)| name));
        pages += 1;
        let Some(next) = reply.json()["next"].as_str().map(str::to_owned) else { break };
        cursor = format!("&cursor={next}");
        if pages == 1 {
            assert_eq!(drive.put("a.zip", "something else").status, 204);
        }
    }
    assert_eq!(names.len(), 5_000);
    assert!(names[4_999].ends_with("4999"));
    entries(&drive, "a.zip").expect_problem(422, "bad_archive");
    entries(&drive, "a.zip?cursor=x").expect_problem(400, "invalid");
    entries(&drive, "none.zip").expect_problem(404, "not_found");
    drive.make_folder("folder");
    entries(&drive, "folder").expect_problem(409, "is_a_folder");
}

#[test]
fn an_archive_that_is_kept_is_listed_and_read_too() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("t").status, 201);
    let large = noise(9, 9 << 20);
    drive.put("t/large", large.clone());
    drive.put("t/small", "small");
    let keep = serde_json::json!({"paths": [drive.path("t")], "to": drive.path("t.zip")});
    assert_eq!(Reply::to(Drive::in_space("POST", "archives").body(keep.to_string())).status, 201);
    let found = listed(&entries(&drive, "t.zip"));
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["t/", "t/large", "t/small"]);
    assert!(entries(&drive, &format!("t.zip?entry={}", found[1].1)).body == large);
    assert_eq!(entries(&drive, &format!("t.zip?entry={}", found[2].1)).body, b"small");
}
