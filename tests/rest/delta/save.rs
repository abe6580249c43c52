//! Saving by chunks.

use ledge_tests::delta::{cut, manifest, packs, save};
use ledge_tests::{Drive, Reply, noise};
use serde_json::json;

const MIB: usize = 1 << 20;

#[test]
fn a_small_change_to_64_mib_sends_less_than_4() {
    let drive = Drive::new();
    let mut content = noise(640, 64 * MIB);
    let first = save(&drive, "large", &content, None);
    assert_eq!(first.reply.status, 201);
    assert_eq!(first.packs, 3);
    // A question, a list in two, and for each pack two and one for each 8 MiB, of which a buffer holds whole chunks.
    assert!(first.cost.0 <= 1 + 2 + 3 * (2 + 5) && first.cost.1 <= 15, "{:?}", first.cost);
    assert!(drive.get("large").body == content);

    content.splice(30 * MIB..31 * MIB, noise(641, MIB));
    let changed = save(&drive, "large", &content, Some(first.reply.header("etag")));
    assert_eq!((changed.reply.status, changed.packs), (204, 1));
    assert!(changed.bytes < 4 * MIB as u64, "{} bytes were sent", changed.bytes);
    assert!(changed.cost.0 <= 1 + 3 + 2 && changed.cost.1 <= 1, "{:?}", changed.cost);
    assert!(drive.get("large").body == content, "byte for byte");

    content.splice(10 * MIB..10 * MIB, noise(642, 1000));
    let inserted = save(&drive, "large", &content, None);
    assert!(inserted.bytes < 4 * MIB as u64, "{} bytes were sent", inserted.bytes);
    assert!(drive.get("large").body == content, "byte for byte");
    let again = save(&drive, "copy", &content, None);
    assert_eq!((again.packs, again.reply.status, again.cost), (0, 201, (3, 0)));
}

#[test]
fn it_is_the_file_that_a_put_makes() {
    let drive = Drive::new();
    for (n, length) in [(0, 0), (1, 1), (2, 4096), (3, 4097), (4, 9 * MIB)] {
        let content = noise(700 + n, length);
        let put = drive.put("put", content.clone());
        let delta = save(&drive, "delta", &content, None);
        assert_eq!(delta.reply.header("etag"), put.header("etag"), "{length} bytes");
        let of = |path: &str| {
            let node = Drive::in_space("GET", &format!("nodes/by-path{}", drive.path(path)));
            let mut node = Reply::to(node).json();
            for own in ["id", "name", "path", "version_id", "modified_at", "created_at", "changed_seq"] {
                node.as_object_mut().unwrap().remove(own);
            }
            node
        };
        assert_eq!(of("delta"), of("put"));
        assert!(drive.get("delta").body == content);
        let range = drive.get_with("delta", "range", "bytes=-5");
        assert_eq!(range.body, content[length.saturating_sub(5)..]);
    }
}

#[test]
fn what_came_by_a_put_is_known() {
    let drive = Drive::new();
    let content = noise(710, 5 * MIB);
    assert_eq!(drive.put("put", content.clone()).status, 201);
    assert_eq!(save(&drive, "delta", &content, None).packs, 0);
    // And what came in packs is known to a put.
    let other = noise(711, 5 * MIB);
    assert_eq!(save(&drive, "other", &other, None).packs, 1);
    assert_eq!(drive.put("put", other).stored_bytes(), 0);
}

#[test]
fn the_answer_says_what_was_stored() {
    let content = noise(720, 3 * MIB);
    let pieces = cut(&content);
    let pack = packs(&content, pieces.iter().chain(&pieces)).remove(0);
    let send = || {
        let request =
            Drive::in_space("POST", "segments").header("content-type", "application/vnd.ledge.pack");
        Reply::to(request.body(pack.clone()))
    };
    let hashes: Vec<String> = pieces.iter().map(|piece| piece.hash.to_string()).collect();
    let first = send();
    assert_eq!(first.status, 201);
    assert_eq!(first.json(), json!({ "stored": hashes, "stored_bytes": 3 * MIB, "size_bytes": 6 * MIB }));
    assert_eq!(send().json(), json!({ "stored": [], "stored_bytes": 0, "size_bytes": 6 * MIB }));
}

#[test]
fn type_and_time_are_those_of_the_list() {
    let drive = Drive::new();
    let content = noise(730, 1000);
    save(&drive, "notes.txt", &content, None);
    assert_eq!(drive.get("notes.txt").header("content-type"), "text/plain");
    let mut list = manifest(&cut(&content));
    list["media_type"] = "text/markdown".into();
    list["modified_at"] = "2020-02-29T12:00:00Z".into();
    let put = |list: &serde_json::Value| {
        let request =
            drive.request("PUT", "notes.txt").header("content-type", "application/vnd.ledge.manifest+json");
        Reply::to(request.body(list.to_string()))
    };
    assert_eq!(put(&list).status, 204);
    let read = drive.get("notes.txt");
    assert_eq!(read.header("content-type"), "text/markdown");
    assert_eq!(read.header("last-modified"), "Sat, 29 Feb 2020 12:00:00 GMT");
    list["media_type"] = "nothing".into();
    put(&list).expect_problem(400, "invalid");
}

#[test]
fn conditions_are_those_of_a_put() {
    let drive = Drive::new();
    let content = noise(740, 10_000);
    let first = save(&drive, "a", &content, Some("\"none\""));
    first.reply.expect_problem(412, "precondition_failed");
    let first = save(&drive, "a", &content, None);
    let put = |header: &str, value: &str| {
        let request = drive.request("PUT", "a").header("content-type", "application/vnd.ledge.manifest+json");
        Reply::to(request.header(header, value).body(manifest(&cut(&content)).to_string()))
    };
    put("if-none-match", "*").expect_problem(412, "precondition_failed");
    assert_eq!(put("if-match", first.reply.header("etag")).status, 204);
    put("repr-digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
        .expect_problem(400, "invalid");
    put("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==").expect_problem(400, "invalid");
    assert_eq!(drive.make_folder("folder").status, 201);
    save(&drive, "folder", &content, None).reply.expect_problem(409, "is_a_folder");
    save(&drive, "none/a", &content, None).reply.expect_problem(409, "parent_missing");
}
