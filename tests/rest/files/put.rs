//! PUT.

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_tests::{Drive, Reply, noise};
use sha2::Digest;

#[test]
fn put_creates_with_201_and_replaces_with_204() {
    let drive = Drive::new();
    let created = drive.put("a.txt", "one");
    assert_eq!(created.status, 201);
    let file = created.json();
    assert_eq!((file["name"].as_str(), file["size_bytes"].as_u64()), (Some("a.txt"), Some(3)));
    assert_eq!(file["etag"].as_str(), Some(created.header("etag")));
    assert_eq!(created.header("location"), drive.file_url("a.txt").trim_start_matches(&Drive::absolute("")));

    let replaced = drive.put("a.txt", "two");
    assert_eq!((replaced.status, replaced.body.len()), (204, 0));
    assert_ne!(replaced.header("etag"), created.header("etag"));
    let read = drive.get("a.txt");
    assert_eq!(read.body, b"two");
    assert_eq!(read.header("etag"), replaced.header("etag"));
    assert_eq!(read.header("last-modified"), replaced.header("last-modified"));
}

#[test]
fn content_of_any_size_comes_back_byte_for_byte() {
    let drive = Drive::new();
    const MIB: usize = 1 << 20;
    let sizes =
        [0, 1, 4095, 4096, 4097, 256 * 1024, MIB, 4 * MIB + 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB];
    for size in sizes {
        let content = noise(size as u64, size);
        assert_eq!(drive.put("sized", content.clone()).status, if size == 0 { 201 } else { 204 }, "{size}");
        let read = drive.get("sized");
        assert_eq!(read.header("content-length"), size.to_string());
        assert!(read.body == content, "{size}");
    }
}

#[test]
fn a_body_without_length_is_saved_too() {
    let drive = Drive::new();
    for size in [0, 5, 4096, 4097, 9 << 20] {
        let content = noise(99, size);
        let streamed = reqwest::blocking::Body::new(std::io::Cursor::new(content.clone()));
        assert!(matches!(drive.put("streamed", streamed).status, 201 | 204));
        assert!(drive.get("streamed").body == content, "{size}");
    }
}

#[test]
fn repetition_is_stored_once() {
    let drive = Drive::new();
    let block = noise(21, 6 << 20);
    let content = [block.clone(), block.clone(), block].concat();
    let saved = drive.put("thrice", content.clone());
    assert!(saved.cost().1 <= 2, "{:?}", saved.cost());
    assert!(drive.get("thrice").body == content);
}

#[test]
fn a_small_change_stores_only_the_change() {
    let drive = Drive::new();
    let mut content = noise(31, 30 << 20);
    assert_eq!(drive.put("big", content.clone()).status, 201);
    content.splice(15_000_000..15_000_000, noise(32, 4096));
    let saved = drive.put("big", content.clone());
    assert_eq!(saved.status, 204);
    assert!(saved.stored_bytes() < 8 << 20, "{} bytes", saved.stored_bytes());
    assert!(drive.get("big").body == content);
}

#[test]
fn digests_are_verified_kept_and_shown() {
    let drive = Drive::new();
    let content = noise(41, 5 << 20);
    let sha256 = format!("sha-256=:{}:", STANDARD.encode(sha2::Sha256::digest(&content)));
    let sha512 = format!("sha-512=:{}:", STANDARD.encode(sha2::Sha512::digest(&content)));
    let put = drive.request("PUT", "a").header("repr-digest", format!("{sha256}, {sha512}"));
    assert_eq!(Reply::to(put.body(content)).status, 201);
    assert_eq!(
        drive.get_with("a", "want-repr-digest", "sha-512=10, sha-256=5").header("repr-digest"),
        sha512
    );
    assert_eq!(drive.get_with("a", "want-repr-digest", "sha-256=1").header("repr-digest"), sha256);
    assert_eq!(drive.get_with("a", "want-repr-digest", "unixsum=1").header("repr-digest"), "");
}

#[test]
fn a_wrong_digest_changes_nothing() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "good").status, 201);
    for (header, value) in [
        ("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="),
        ("repr-digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
        ("repr-digest", "sha-256=:short:"),
        ("content-md5", "?"),
    ] {
        let reply = Reply::to(drive.request("PUT", "a").header(header, value).body("bad"));
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"].as_str().unwrap().to_lowercase(), header);
        assert_eq!(drive.get("a").body, b"good");
    }
    let right = drive.request("PUT", "a").header("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==").body("");
    assert_eq!(Reply::to(right).status, 204);
}

#[test]
fn the_modification_time_may_be_given() {
    let drive = Drive::new();
    let put = |value: &str| Reply::to(drive.request("PUT", &format!("a?modified_at={value}")).body("x"));
    assert_eq!(put("1994-11-06T08:49:37Z").header("last-modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(drive.get("a").header("last-modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
    for bad in ["yesterday", "1800-01-01T00:00:00Z", "", "1994-11-06"] {
        let reply = put(bad);
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], "modified_at");
    }
    let reply = Reply::to(drive.request("PUT", "a?modifed_at=x").body("x"));
    reply.expect_problem(400, "invalid");
}

#[test]
fn the_media_type_is_given_or_guessed() {
    let drive = Drive::new();
    let put = |name: &str, media_type: &str| {
        let request = drive.request("PUT", name).body("x");
        let request =
            if media_type.is_empty() { request } else { request.header("content-type", media_type) };
        Reply::to(request).status
    };
    for (name, given, kept) in [
        ("a.jpg", "", "image/jpeg"),
        ("b", "", "application/octet-stream"),
        ("c.txt", "text/x-log; charset=utf-8", "text/x-log; charset=utf-8"),
        ("d.png", "application/x-www-form-urlencoded", "image/png"),
    ] {
        assert_eq!(put(name, given), 201);
        assert_eq!(drive.get(name).header("content-type"), kept);
    }
    assert_eq!(put("e", "nonsense"), 400);
}

#[test]
fn a_part_never_replaces_the_whole() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "0123456789").status, 201);
    let part = drive.request("PUT", "a").header("content-range", "bytes 1-1/10").body("x");
    let reply = Reply::to(part);
    reply.expect_problem(400, "invalid");
    assert_eq!(reply.json()["field"], "Content-Range");
    assert_eq!(drive.get("a").body, b"0123456789");
}
