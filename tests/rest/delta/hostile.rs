//! What must not work, and must be told plainly.

use ledge_tests::delta::{cut, manifest, packs, save};
use ledge_tests::{Drive, Reply, Wire, noise};
use serde_json::{Value, json};

const LIST: &str = "application/vnd.ledge.manifest+json";
const PACK: &str = "application/vnd.ledge.pack";

fn send_pack(pack: Vec<u8>) -> Reply {
    Reply::to(Drive::in_space("POST", "segments").header("content-type", PACK).body(pack))
}

fn put_list(drive: &Drive, list: &Value) -> Reply {
    Reply::to(drive.request("PUT", "a").header("content-type", LIST).body(list.to_string()))
}

fn missing(body: &Value) -> Reply {
    Reply::to(Drive::in_space("POST", "chunks/missing").body(body.to_string()))
}

#[test]
fn by_hash_alone_nobody_reads() {
    let drive = Drive::new();
    let unknown = "00".repeat(32);
    let reply = put_list(&drive, &json!({ "chunks": [[unknown, 1000]] }));
    reply.expect_problem(409, "chunks_missing");
    assert_eq!(reply.json()["missing"], json!([unknown]));
    assert_eq!(drive.get("a").status, 404);
    // A pack can't make a hash stand for other bytes.
    let mut pack = packs(b"other", &cut(b"other")).remove(0);
    pack[4..36].fill(0);
    let reply = send_pack(pack);
    reply.expect_problem(400, "invalid");
    assert_eq!(reply.json()["field"], "body");
    put_list(&drive, &json!({ "chunks": [[unknown, 5]] })).expect_problem(409, "chunks_missing");
}

#[test]
fn a_wrong_length_is_refused() {
    let drive = Drive::new();
    let content = noise(900, 5000);
    save(&drive, "b", &content, None);
    let hash = cut(&content)[0].hash.to_string();
    for length in [4999, 5001, 1, 4 << 20] {
        let reply = put_list(&drive, &json!({ "chunks": [[hash, length]] }));
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], "chunks");
    }
    assert_eq!(put_list(&drive, &json!({ "chunks": [[hash, 5000]] })).status, 201);
}

#[test]
fn lists_that_are_none_are_refused() {
    let drive = Drive::new();
    let hash = "ab".repeat(32);
    let many: Vec<Value> = (0..32_769).map(|_| json!([hash, 1 << 20])).collect();
    let tiny: Vec<Value> = (0..1100).map(|_| json!([hash, 1])).collect();
    for list in [
        json!({}),
        json!([]),
        json!({ "chunks": 7 }),
        json!({ "chunks": [[hash]] }),
        json!({ "chunks": [[hash, 1, 2]] }),
        json!({ "chunks": [[null, 1]] }),
        json!({ "chunks": [[hash.to_uppercase(), 1]] }),
        json!({ "chunks": [["ab", 1]] }),
        json!({ "chunks": [[hash, 0]] }),
        json!({ "chunks": [[hash, -1]] }),
        json!({ "chunks": [[hash, 1.5]] }),
        json!({ "chunks": [[hash, (4 << 20) + 1]] }),
        json!({ "chunks": [[hash, 1_u64 << 40]] }),
        json!({ "chunks": [], "etag": "x" }),
        json!({ "chunks": [], "modified_at": "yesterday" }),
        json!({ "chunks": tiny }),
        json!({ "chunks": many }),
    ] {
        put_list(&drive, &list).expect_problem(400, "invalid");
    }
    let long = format!("{{\"chunks\":[]{}}}", " ".repeat(3_000_000));
    let reply = Reply::to(drive.request("PUT", "a").header("content-type", LIST).body(long));
    reply.expect_problem(413, "body_too_large");
    assert_eq!(drive.get("a").status, 404);
}

#[test]
fn packs_that_are_none_are_refused() {
    let content = noise(910, 3000);
    let good = packs(&content, &cut(&content)).remove(0);
    let mut huge = good.clone();
    huge[..4].copy_from_slice(&u32::MAX.to_be_bytes());
    let mut empty = good.clone();
    empty[..4].fill(0);
    let tiny = packs(b"x", cut(b"x").iter().cycle().take(1024)).remove(0);
    let mut too_many = tiny.clone();
    too_many.extend(packs(b"x", &cut(b"x")).remove(0));
    for pack in [
        Vec::new(),
        good[..20].to_vec(),
        good[..good.len() - 1].to_vec(),
        [good.clone(), vec![0]].concat(),
        huge,
        empty,
        too_many,
    ] {
        send_pack(pack).expect_problem(400, "invalid");
    }
    assert_eq!(send_pack(tiny).status, 201);
    // Announced only: once it is refused, the connection may go before all of it is sent.
    let path = format!("/api/v1/spaces/{}/segments", Drive::space());
    let huge = Wire::new("POST", path).bearer().header("content-type", PACK).claiming((32 << 20) + 1);
    huge.header("expect", "100-continue").send().expect_problem(413, "body_too_large");
    let untyped = Reply::to(Drive::in_space("POST", "segments").body(good));
    untyped.expect_problem(400, "invalid");
    assert_eq!(untyped.json()["field"], "Content-Type");
}

#[test]
fn questions_that_are_none_are_refused() {
    let hash = "cd".repeat(32);
    assert_eq!(missing(&json!({ "hashes": [] })).json(), json!({ "missing": [] }));
    assert_eq!(missing(&json!({ "hashes": [hash, hash] })).json(), json!({ "missing": [hash] }));
    for body in [
        json!({}),
        json!({ "hashes": ["x"] }),
        json!({ "hashes": [hash.to_uppercase()] }),
        json!({ "hashes": [7] }),
        json!({ "hashes": [], "more": 1 }),
        json!({ "hashes": vec![&hash; 8193] }),
    ] {
        missing(&body).expect_problem(400, "invalid");
    }
    let many = vec![&hash; 9500];
    missing(&json!({ "hashes": many })).expect_problem(413, "body_too_large");
}

#[test]
fn only_tokens_for_the_whole_space_may() {
    let drive = Drive::new();
    let content = noise(920, 5000);
    save(&drive, "in-it", &content, None);
    let folder = drive.make_folder("folder").json()["id"].clone();
    let (space, pieces) = (Drive::space(), cut(&content));
    let make = |limits: Value| {
        let request = Drive::signed("POST", &Drive::absolute("/api/v1/tokens"));
        Reply::to(request.body(limits.to_string())).json()["token"].as_str().unwrap().to_owned()
    };
    let limited = make(json!({ "name": "folder", "space_id": space, "folder_id": folder }));
    let reading = make(json!({ "name": "reading", "space_id": space, "rights": "read" }));
    let webdav = make(json!({ "name": "webdav", "protocols": ["webdav"] }));
    let whole = make(json!({ "name": "whole", "space_id": space }));
    let hash = pieces[0].hash.to_string();
    let send = |token: &str, n: usize| {
        let url = |path: &str| Drive::absolute(&format!("/api/v1/spaces/{space}/{path}"));
        let file = drive.file_url("folder/a");
        let request = match n {
            0 => {
                Drive::anonymous("POST", &url("chunks/missing")).body(json!({ "hashes": [hash] }).to_string())
            }
            1 => Drive::anonymous("POST", &url("segments"))
                .header("content-type", PACK)
                .body(packs(&content, &pieces).remove(0)),
            2 => Drive::anonymous("PUT", &file)
                .header("content-type", LIST)
                .body(manifest(&pieces).to_string()),
            _ => Drive::anonymous("GET", &file).header("accept", LIST),
        };
        Reply::to(if token.is_empty() { request } else { request.bearer_auth(token) }).status
    };
    let all = |token: &str| [0, 1, 2, 3].map(|n| send(token, n));
    assert_eq!(all(&whole), [200, 201, 201, 200]);
    assert_eq!(all(&limited), [404, 404, 404, 404]);
    assert_eq!(all(&reading), [403, 403, 403, 200]);
    assert_eq!(all(&webdav), [403, 403, 403, 403]);
    assert_eq!(all(""), [401, 401, 401, 401]);
    // What the limited token may do all the same: save and read the content itself.
    let put = Drive::anonymous("PUT", &drive.file_url("folder/b")).bearer_auth(&limited);
    assert_eq!(Reply::to(put.body(content.clone())).status, 201);
    // The parameters are no secret.
    assert_eq!(Reply::to(Drive::anonymous("GET", &Drive::absolute("/api/v1/chunking"))).status, 200);
}
