//! Reading the list of chunks, and by it.

use ledge_tests::delta::{cut, receive, save};
use ledge_tests::{Drive, Reply, noise};
use serde_json::{Value, json};

const MIB: usize = 1 << 20;
const LIST: &str = "application/vnd.ledge.manifest+json";

fn list(drive: &Drive, path: &str) -> Reply {
    drive.get_with(path, "accept", LIST)
}

#[test]
fn a_reader_with_an_older_copy_fetches_what_has_changed() {
    let drive = Drive::new();
    let old = noise(800, 24 * MIB);
    let mut new = old.clone();
    new.splice(11 * MIB..11 * MIB, noise(801, 5000));
    assert_eq!(drive.put("a", new.clone()).status, 201);
    let read = receive(&drive, "a", &old);
    assert!(read.content == new, "byte for byte");
    assert!(read.fetched_bytes < 8 * MIB as u64, "{} bytes were fetched", read.fetched_bytes);
    assert_eq!(receive(&drive, "a", &new).fetched_bytes, 0);
    assert!(receive(&drive, "a", &[]).content == new);
}

#[test]
fn the_list_is_what_a_client_would_make() {
    let drive = Drive::new();
    let content = noise(810, 9 * MIB);
    let saved = drive.put("a", content.clone());
    let reply = list(&drive, "a");
    assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
    assert_eq!(reply.header("content-type"), LIST);
    assert_eq!(reply.header("etag"), "");
    // Hosts may put what answers vary by into one line.
    for varies in [&reply, &drive.get("a")] {
        assert!(varies.header("vary").split(", ").any(|name| name == "Accept"), "{}", varies.header("vary"));
    }
    let answer = reply.json();
    let chunks: Vec<Value> =
        cut(&content).iter().map(|piece| json!([piece.hash.to_string(), piece.range.len()])).collect();
    assert_eq!(answer["chunks"], Value::from(chunks));
    assert_eq!(answer["etag"], saved.header("etag"));
    assert_eq!(answer["version_id"], saved.json()["version_id"]);
    assert_eq!((&answer["from"], &answer["next"]), (&json!(0), &Value::Null));

    // From the middle of a chunk on: its rest has no hash.
    let first = cut(&content)[0].range.len();
    let rest = drive.get_with(&format!("a?from={}", first - 10), "accept", LIST).json();
    assert_eq!(rest["chunks"][0], json!([null, 10]));
    assert_eq!(rest["chunks"][1], answer["chunks"][1]);
    let end = drive.get_with(&format!("a?from={}", content.len()), "accept", LIST).json();
    assert_eq!((&end["chunks"], &end["next"]), (&json!([]), &Value::Null));
    drive.get_with(&format!("a?from={}", content.len() + 1), "accept", LIST).expect_problem(400, "invalid");
    drive.get_with("a?from=-1", "accept", LIST).expect_problem(400, "invalid");
}

#[test]
fn small_and_empty_content_is_listed_plainly() {
    let drive = Drive::new();
    let small = noise(820, 100);
    assert_eq!(drive.put("small", small.clone()).status, 201);
    let hash = cut(&small)[0].hash.to_string();
    assert_eq!(list(&drive, "small").json()["chunks"], json!([[hash, 100]]));
    assert_eq!(drive.put("empty", Vec::new()).status, 201);
    assert_eq!(list(&drive, "empty").json()["chunks"], json!([]));
}

#[test]
fn conditions_and_versions_are_those_of_the_file() {
    let drive = Drive::new();
    let (old, new) = (noise(830, 5000), noise(831, 6000));
    let first = drive.put("a", old);
    save(&drive, "a", &new, None);
    let etag = drive.get("a").header("etag").to_owned();
    let ask = |query: &str, header: &str, value: &str| {
        Reply::to(drive.request("GET", &format!("a{query}")).header("accept", LIST).header(header, value))
    };
    assert_eq!(ask("", "if-none-match", &etag).status, 304);
    ask("", "if-match", "\"other\"").expect_problem(412, "precondition_failed");
    assert_eq!(ask("", "if-match", &etag).status, 200);
    // A range is of the content, not of the list.
    assert_eq!(ask("", "range", "bytes=0-4").status, 200);
    let version = first.json()["version_id"].as_str().unwrap().to_owned();
    let older = ask(&format!("?version={version}"), "x-none", "");
    assert_eq!((&older.json()["version_id"], &older.json()["size_bytes"]), (&json!(version), &json!(5000)));
    assert_eq!(list(&drive, "none").status, 404);
    drive.make_folder("folder");
    list(&drive, "folder").expect_problem(409, "is_a_folder");
    let head = Reply::to(drive.request("HEAD", "a").header("accept", LIST));
    assert_eq!((head.status, head.header("content-type")), (200, LIST));
    // Anything else means the content.
    for accept in ["*/*", "application/json", "application/vnd.ledge.manifest+json;q=0"] {
        assert!(drive.get_with("a", "accept", accept).body == new, "{accept}");
    }
}

#[test]
fn what_was_written_in_part_is_listed_and_read() {
    let drive = Drive::new();
    let mut content = noise(840, 6 * MIB);
    assert_eq!(drive.put("a", content.clone()).status, 201);
    let line = noise(841, 100);
    let append = Drive::in_space("POST", &format!("append{}", drive.path("a"))).body(line.clone());
    let appended = Reply::to(append);
    assert!(appended.status < 300, "{}", String::from_utf8_lossy(&appended.body));
    let old = content.clone();
    content.extend(&line);
    let read = receive(&drive, "a", &old);
    assert!(read.content == content, "byte for byte");
    assert!(read.fetched_bytes < 5 * MIB as u64, "{} bytes were fetched", read.fetched_bytes);
}
