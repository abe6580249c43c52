//! Files that are written in parts: PATCH, append, concat.

use std::thread;

use ledge_tests::{Drive, Reply, noise};
use serde_json::json;

const MIB: usize = 1 << 20;

fn patch(drive: &Drive, path: &str, range: &str, body: impl Into<Vec<u8>>) -> Reply {
    Reply::to(drive.request("PATCH", path).header("content-range", range).body(body.into()))
}

fn concat(drive: &Drive, path: &str, sources: &serde_json::Value) -> Reply {
    let body = json!({ "sources": sources }).to_string();
    Reply::to(Drive::in_space("POST", &drive.below("concat", path)).body(body))
}

#[test]
fn a_patch_overwrites_extends_and_leaves_holes_that_read_as_zeros() {
    let drive = Drive::new();
    let first = drive.put("f", "0123456789");
    let reply = patch(&drive, "f", "bytes 2-4/*", "abc");
    assert_eq!(reply.status, 204);
    assert_ne!(reply.header("etag"), first.header("etag"));
    let read = drive.get("f");
    assert_eq!((read.body.as_slice(), read.header("etag")), (&b"01abc56789"[..], reply.header("etag")));
    assert_eq!(patch(&drive, "f", "bytes 9-11/12", "xyz").status, 204);
    assert_eq!(drive.get("f").body, b"01abc5678xyz");
    assert_eq!(patch(&drive, "f", "bytes 14-14/15", "!").status, 204);
    assert_eq!(drive.get("f").body, b"01abc5678xyz\0\0!");

    // Terabytes of nothing are nothing.
    let far = 3 << 40;
    let reply = patch(&drive, "f", &format!("bytes {far}-{}/*", far + 2), "end");
    assert_eq!((reply.status, reply.header("etag").is_empty()), (204, false));
    assert!(reply.stored_bytes() < 100, "{}", reply.stored_bytes());
    let head = Reply::to(drive.request("HEAD", "f"));
    assert_eq!(head.header("content-length"), (far + 3u64).to_string());
    let end = drive.get_with("f", "range", &format!("bytes={}-", far - 3));
    assert_eq!((end.status, end.body.as_slice(), end.cost()), (206, &b"\0\0\0end"[..], (1, 0)));
    assert_eq!(drive.get_with("f", "range", "bytes=0-14").body, b"01abc5678xyz\0\0!");
    assert_eq!(drive.get_with("f", "range", "bytes=1000000000000-1000000000003").body, b"\0\0\0\0");
}

#[test]
fn a_patch_of_large_content_stores_the_change_and_reads_right() {
    let drive = Drive::new();
    let mut content = noise(71, 20 * MIB);
    assert_eq!(drive.put("f", content.clone()).status, 201);
    for (n, at, length) in
        [(72, 5 * MIB, 10), (73, 7, 3 * MIB), (74, 19 * MIB, 2 * MIB), (75, 12 * MIB, 70_000)]
    {
        let new = noise(n, length);
        content.resize(content.len().max(at + length), 0);
        content[at..at + length].copy_from_slice(&new);
        let reply = patch(&drive, "f", &format!("bytes {at}-{}/*", at + length - 1), new);
        assert_eq!(reply.status, 204);
        assert!(reply.stored_bytes() as usize <= length + 8 * MIB, "{}", reply.stored_bytes());
        assert!(drive.get("f").body == content, "{n}");
    }
    // It is cut as if all of it had been saved: the whole is known.
    let saved = drive.put("again", content.clone());
    assert!((saved.stored_bytes() as usize) < 8 * MIB, "{}", saved.stored_bytes());
    assert!(drive.get("again").body == content);
}

#[test]
fn a_part_that_makes_no_sense_is_refused_and_changes_nothing() {
    let drive = Drive::new();
    assert_eq!(drive.put("f", "0123456789").status, 201);
    let before = drive.get("f");
    for (range, body, status, code) in [
        ("bytes 0-2/*", "ab", 400, "invalid"),
        ("bytes 2-0/*", "abc", 400, "invalid"),
        ("bytes 0-2/2", "abc", 400, "invalid"),
        ("bytes */10", "abc", 400, "invalid"),
        ("bytes=0-2", "abc", 400, "invalid"),
        ("bytes 0-9007199254740992/*", "abc", 400, "invalid"),
        ("bytes 0-2/11", "abc", 409, "size_differs"),
    ] {
        patch(&drive, "f", range, body).expect_problem(status, code);
    }
    Reply::to(drive.request("PATCH", "f").body("abc")).expect_problem(400, "invalid");
    patch(&drive, "none", "bytes 0-2/*", "abc").expect_problem(404, "not_found");
    let wrong = drive.request("PATCH", "f").header("content-range", "bytes 0-2/*");
    let digest = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";
    Reply::to(wrong.header("content-digest", digest).body("abd")).expect_problem(400, "invalid");
    let stale = drive.request("PATCH", "f").header("content-range", "bytes 0-2/*");
    Reply::to(stale.header("if-match", "\"other\"").body("abc")).expect_problem(412, "precondition_failed");
    let after = drive.get("f");
    assert_eq!((&after.body, after.header("etag")), (&before.body, before.header("etag")));
    let right = drive.request("PATCH", "f").header("content-range", "bytes 0-2/*");
    let right = right.header("content-digest", digest).header("if-match", before.header("etag"));
    assert_eq!(Reply::to(right.body("abc")).status, 204);
    assert_eq!(drive.get("f").body, b"abc3456789");
    assert_eq!(drive.make_folder("folder").status, 201);
    patch(&drive, "folder", "bytes 0-2/*", "abc").expect_problem(409, "is_a_folder");
}

#[test]
fn appends_say_where_they_landed_and_are_one_version_for_a_while() {
    let drive = Drive::new();
    drive.append("log", "first\n").expect_problem(404, "not_found");
    let made = drive.append("log?create=true", "first\n");
    assert_eq!(
        (made.status, made.json()["offset"].as_u64(), made.json()["size_bytes"].as_u64()),
        (201, Some(0), Some(6))
    );
    assert!(made.header("location").ends_with("/log"));
    let more = drive.append("log", "second\n");
    assert_eq!((more.status, more.json()["offset"].as_u64(), more.cost()), (200, Some(6), (2, 0)));
    assert_ne!(made.json()["version_id"], more.json()["version_id"]);
    let read = drive.get("log");
    assert_eq!((read.body.as_slice(), read.header("etag")), (&b"first\nsecond\n"[..], more.header("etag")));
    let versions =
        || Reply::to(drive.version_request("GET", "log", "")).json()["versions"].as_array().unwrap().len();
    assert_eq!(versions(), 1, "what was appended so soon is in one version");
    // What somebody has labelled stays, and what was saved is another version.
    let version = more.json()["version_id"].as_str().unwrap().to_owned();
    let label = drive.version_request("PATCH", "log", &format!("?version={version}"));
    assert_eq!(Reply::to(label.body("{\"label\": \"two lines\"}")).status, 200);
    assert_eq!(drive.append("log", "third\n").status, 200);
    assert_eq!(versions(), 2);
    assert_eq!(drive.put("log", "new\n").status, 204);
    assert_eq!(drive.append("log", "more\n").status, 200);
    assert_eq!(versions(), 4);
    assert_eq!(drive.get("log").body, b"new\nmore\n");
    let labelled = drive.request("GET", &format!("log?version={version}"));
    assert_eq!(Reply::to(labelled).body, b"first\nsecond\n");
    // Nothing appended is nothing lost.
    assert_eq!(drive.append("log", "").status, 200);
    assert_eq!(drive.get("log").body, b"new\nmore\n");
}

#[test]
fn a_tail_reads_in_every_way_and_goes_with_copies_and_versions() {
    let drive = Drive::new();
    let mut content = noise(81, 3 * MIB);
    assert_eq!(drive.put("f", content.clone()).status, 201);
    let tail = noise(82, 20_000);
    assert_eq!(drive.append("f", tail.clone()).cost(), (2, 0));
    let paged = content.len();
    content.extend(tail);
    assert!(drive.get("f").body == content);
    for (from, to, bucket) in [
        (0, 10, 1),
        (paged - 5, paged, 1),
        (paged, paged + 1, 0),
        (paged + 19_000, content.len(), 0),
        (paged - 5, paged + 5, 1),
    ] {
        let part = drive.get_with("f", "range", &format!("bytes={from}-{}", to - 1));
        assert_eq!((part.status, part.cost()), (206, (1, bucket)), "{from}..{to}");
        assert!(part.body == content[from..to], "{from}..{to}");
    }
    let last = drive.get_with("f", "range", "bytes=-7");
    assert_eq!((last.body.as_slice(), last.cost()), (&content[content.len() - 7..], (1, 0)));
    let copy = json!([{ "op": "copy", "path": drive.path("f"), "to": { "name": "copy" } }]);
    assert_eq!(Drive::batch(&copy).status, 200);
    assert!(drive.get("copy").body == content);
    assert_eq!(drive.append("copy", "only here").status, 200);
    assert!(drive.get("f").body == content);
    assert_eq!(patch(&drive, "f", &format!("bytes {}-{}/*", paged - 2, paged + 1), "over").status, 204);
    content[paged - 2..paged + 2].copy_from_slice(b"over");
    assert!(drive.get("f").body == content);
}

#[test]
fn an_append_to_a_gibibyte_writes_the_change() {
    let drive = Drive::new();
    let size = 1 << 30;
    assert_eq!(drive.put("f", noise(91, 2 * MIB)).status, 201);
    assert_eq!(patch(&drive, "f", &format!("bytes {}-{}/*", size - 1, size - 1), "x").status, 204);
    let memory = Drive::wasm_memory_bytes();
    // Until the tail is full it costs nothing but its row.
    let small = drive.append("f", noise(92, 30_000));
    assert_eq!((small.status, small.cost(), small.stored_bytes()), (200, (2, 0), 0));
    let full = drive.append("f", noise(93, 10_000));
    assert_eq!((full.status, full.cost().0), (200, 3));
    assert!(full.cost().1 <= 2, "{:?}", full.cost());
    assert!(full.stored_bytes() <= 8 * MIB as u64, "at most two chunks: {}", full.stored_bytes());
    let again = drive.append("f", noise(94, 100_000));
    assert_eq!((again.status, again.cost()), (200, (3, 2)), "what is before it, and one segment");
    let middle = patch(&drive, "f", "bytes 1000000-1000002/*", "abc");
    assert_eq!((middle.status, middle.cost().0), (204, 3));
    assert!(middle.cost().1 <= 3, "what is before it, what is behind it, one segment: {:?}", middle.cost());
    let end = drive.get_with("f", "range", &format!("bytes={size}-"));
    assert!(end.body == [noise(92, 30_000), noise(93, 10_000), noise(94, 100_000)].concat());
    assert_eq!(drive.get_with("f", "range", "bytes=999999-1000003").body[1..4], *b"abc");
    let grown = Drive::wasm_memory_bytes().zip(memory);
    assert!(grown.is_none_or(|(after, before)| after <= before.max(64 << 20)), "{grown:?}");
}

#[test]
fn appends_of_many_at_once_lose_no_line() {
    let drive = Drive::new();
    assert_eq!(drive.put("log", "").status, 201);
    let lines = 40;
    thread::scope(|scope| {
        for client in 0..8 {
            let drive = &drive;
            scope.spawn(move || {
                for n in 0..lines {
                    let reply = drive.append("log", format!("client {client} line {n}\n"));
                    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
                }
            });
        }
    });
    let text = String::from_utf8(drive.get("log").body).unwrap();
    assert_eq!(text.lines().count(), 8 * lines);
    for client in 0..8 {
        let own = text.lines().filter(|line| line.starts_with(&format!("client {client} ")));
        assert!(own.eq((0..lines).map(|n| format!("client {client} line {n}"))), "in its order");
    }
}

#[test]
fn large_appends_at_once_land_one_behind_the_other() {
    let drive = Drive::new();
    assert_eq!(drive.put("f", noise(100, 2 * MIB)).status, 201);
    let parts: Vec<Vec<u8>> = (0..4).map(|n| noise(101 + n, 300_000)).collect();
    thread::scope(|scope| {
        for part in &parts {
            let drive = &drive;
            scope.spawn(move || assert_eq!(drive.append("f", part.clone()).status, 200));
        }
    });
    let read = drive.get("f").body;
    assert_eq!(read.len(), 2 * MIB + 4 * 300_000);
    let mut landed: Vec<&[u8]> = read[2 * MIB..].chunks(300_000).collect();
    landed.sort_unstable();
    let mut sent: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    sent.sort_unstable();
    assert!(landed == sent);
}

#[test]
fn files_are_joined_without_moving_what_is_in_the_bucket() {
    let drive = Drive::new();
    let (a, b) = (noise(111, 9 * MIB), noise(112, 300));
    let made = drive.put("a", a.clone());
    assert_eq!(made.status, 201);
    assert_eq!(drive.put("b", b.clone()).status, 201);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let reply =
        concat(&drive, "c", &json!([{ "path": drive.path("a") }, { "id": id }, { "path": drive.path("b") }]));
    assert_eq!((reply.status, reply.cost(), reply.stored_bytes()), (201, (3, 0), 0));
    assert_eq!(reply.json()["size_bytes"].as_u64(), Some((2 * a.len() + b.len()) as u64));
    let whole = [a.as_slice(), &a, &b].concat();
    let read = drive.get("c");
    assert!(read.body == whole);
    assert_eq!(read.header("etag"), reply.header("etag"));
    // A file may be part of itself, and an older version of another.
    let version = made.json()["version_id"].as_str().unwrap().to_owned();
    assert_eq!(drive.put("a", "short").status, 204);
    let sources = json!([{ "path": drive.path("c") }, { "path": drive.path("a"), "version": version }]);
    assert_eq!(concat(&drive, "c", &sources).status, 200);
    assert!(drive.get("c").body == [whole.as_slice(), &a].concat());
    let gone = concat(&drive, "d", &json!([{ "path": drive.path("a") }, { "path": drive.path("none") }]));
    gone.expect_problem(404, "not_found");
    assert_eq!(gone.json()["operation"], 1);
    concat(&drive, "d", &json!([])).expect_problem(400, "invalid");
    concat(&drive, "d", &json!([{ "path": drive.path("a"), "id": id }])).expect_problem(400, "invalid");
    assert_eq!(drive.names(""), ["a", "b", "c"]);
}

#[test]
fn a_key_makes_an_append_happen_once() {
    let drive = Drive::new();
    assert_eq!(drive.put("log", "").status, 201);
    let moment = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let key = format!("append-{}-{moment}", std::process::id());
    let line = noise(120, 50_000);
    let send = || {
        let append = Drive::in_space("POST", &drive.below("append", "log"));
        Reply::to(append.header("idempotency-key", &key).body(line.clone()))
    };
    let (first, second) = (send(), send());
    assert_eq!((first.status, second.status), (200, 200));
    assert_eq!((&first.body, second.header("idempotency-replayed")), (&second.body, "true"));
    assert!(drive.get("log").body == line);
}
