//! A file that arrives in parts.

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_tests::{Drive, Reply, noise};
use sha2::Digest;

use super::{UPLOADS, begin, begun, metadata, offset, part, tus};

#[test]
fn options_says_what_there_is_to_anybody() {
    let reply = Reply::to(Drive::anonymous("OPTIONS", &Drive::absolute(UPLOADS)));
    assert_eq!((reply.status, reply.header("tus-version")), (204, "1.0.0"));
    assert_eq!(reply.header("tus-checksum-algorithm"), "sha1,sha256,md5");
    for extension in [
        "creation",
        "creation-with-upload",
        "creation-defer-length",
        "expiration",
        "checksum",
        "concatenation",
        "termination",
    ] {
        assert!(reply.header("tus-extension").split(',').any(|it| it == extension), "{extension}");
    }
    assert_eq!(reply.header("tus-max-size"), (1_u64 << 43).to_string());
}

#[test]
fn a_file_in_parts_is_there_when_the_last_has_come() {
    let drive = Drive::new();
    let content = noise(1, 20 << 20);
    let url = begun(&drive, "big.bin", content.len());
    let ends = [0, 1, 5000, 5001, 9 << 20, 15_000_000, 20 << 20];
    for (from, to) in ends.iter().zip(&ends[1..]) {
        assert_eq!(offset(&url), Some(*from));
        assert_eq!(drive.get("big.bin").status, 404, "nothing is there before the end");
        let reply = Reply::to(part(&url, *from, &content[*from..*to]));
        assert_eq!(reply.status, 204, "{}", String::from_utf8_lossy(&reply.body));
        assert_eq!(reply.header("upload-offset"), to.to_string());
        assert!(!reply.header("upload-expires").is_empty());
        assert_eq!(!reply.header("etag").is_empty(), *to == content.len());
    }
    let read = drive.get("big.bin");
    assert!(read.body == content);
    assert_eq!(read.header("content-type"), "application/octet-stream");
    // Whoever lost the last answer learns of it.
    let reply = Reply::to(tus("HEAD", &url));
    assert_eq!((reply.status, reply.header("etag")), (200, read.header("etag")));
    assert_eq!(reply.header("upload-offset"), reply.header("upload-length"));
    let reply = Reply::to(part(&url, content.len(), b""));
    assert_eq!((reply.status, reply.header("etag")), (204, read.header("etag")));
    let json = Reply::to(Drive::signed("GET", &Drive::absolute(&url))).json();
    assert_eq!(json["path"], drive.path("big.bin").as_str());
    assert_eq!(json["etag"], read.header("etag"));
    assert_eq!(drive.versions("big.bin").len(), 1);
}

#[test]
fn files_of_any_size_come_whole_whatever_their_parts() {
    let drive = Drive::new();
    for (size, step) in
        [(0, 1), (1, 1), (4096, 1000), (4097, 5000), (70_000, 999), (200_000, 70_000), (9_000_000, 8 << 20)]
    {
        let content = noise(size as u64, size);
        let url = begun(&drive, "sized", size);
        for from in (0..size).step_by(step) {
            let to = size.min(from + step);
            assert_eq!(Reply::to(part(&url, from, &content[from..to])).status, 204, "{size}: {from}");
        }
        assert!(drive.get("sized").body == content, "{size}");
    }
}

#[test]
fn an_upload_in_one_part_has_the_entity_tag_of_a_put() {
    let drive = Drive::new();
    let content = noise(3, 300_000);
    let put = drive.put("put", content.clone());
    let reply = Reply::to(
        begin(&drive, "tus", content.len())
            .header("content-type", "application/offset+octet-stream")
            .body(content.clone()),
    );
    assert_eq!((reply.status, reply.header("etag")), (201, put.header("etag")));
    assert_eq!(reply.header("upload-offset"), content.len().to_string());
    assert!(drive.get("tus").body == content);
}

#[test]
fn metadata_say_what_the_file_will_be_and_are_told_again() {
    let drive = Drive::new();
    let given = format!(
        "{},filetype {},modified_at {},is_secret",
        metadata(&drive, "typed"),
        STANDARD.encode("text/x-odd"),
        STANDARD.encode("2001-02-03T04:05:06Z")
    );
    let reply =
        Reply::to(tus("POST", UPLOADS).header("upload-length", "3").header("upload-metadata", &given));
    let url = reply.header("location").to_owned();
    assert_eq!(Reply::to(tus("HEAD", &url)).header("upload-metadata"), given);
    assert_eq!(Reply::to(part(&url, 0, b"abc")).header("last-modified"), "Sat, 03 Feb 2001 04:05:06 GMT");
    let read = drive.get("typed");
    assert_eq!(read.header("content-type"), "text/x-odd");
    assert_eq!(read.header("last-modified"), "Sat, 03 Feb 2001 04:05:06 GMT");
}

#[test]
fn the_length_may_come_later() {
    let drive = Drive::new();
    let deferred = tus("POST", UPLOADS)
        .header("upload-defer-length", "1")
        .header("upload-metadata", metadata(&drive, "later"));
    let url = Reply::to(deferred).header("location").to_owned();
    assert_eq!(Reply::to(part(&url, 0, b"abc")).status, 204);
    let reply = Reply::to(tus("HEAD", &url));
    assert_eq!((reply.header("upload-defer-length"), reply.header("upload-length")), ("1", ""));
    Reply::to(part(&url, 3, b"").header("upload-length", "2")).expect_problem(400, "invalid");
    assert_eq!(Reply::to(part(&url, 3, b"d").header("upload-length", "6")).status, 204);
    Reply::to(part(&url, 4, b"e").header("upload-length", "7")).expect_problem(400, "invalid");
    assert_eq!(Reply::to(part(&url, 4, b"ef")).status, 204);
    assert_eq!(drive.get("later").body, b"abcdef");

    // All of it was there before the length was.
    let deferred = tus("POST", UPLOADS)
        .header("upload-defer-length", "1")
        .header("upload-metadata", metadata(&drive, "late"));
    let url = Reply::to(deferred).header("location").to_owned();
    let content = noise(5, 1 << 20);
    assert_eq!(Reply::to(part(&url, 0, &content)).status, 204);
    let reply = Reply::to(part(&url, content.len(), b"").header("upload-length", content.len().to_string()));
    assert!(!reply.header("etag").is_empty());
    let read = drive.get("late");
    assert!(read.body == content);
}

#[test]
fn a_checksum_is_verified_and_a_wrong_part_leaves_nothing() {
    let drive = Drive::new();
    let content = noise(7, 9 << 20);
    let url = begun(&drive, "checked", content.len());
    let (first, rest) = content.split_at(100_000);
    let sha256 = |bytes: &[u8]| format!("sha256 {}", STANDARD.encode(sha2::Sha256::digest(bytes)));
    let wrong = Reply::to(part(&url, 0, first).header("upload-checksum", sha256(rest)));
    wrong.expect_problem(460, "checksum_mismatch");
    assert_eq!(wrong.header("tus-resumable"), "1.0.0");
    assert_eq!(offset(&url), Some(0));
    for text in ["sha256", "sha256 !", "sha256 YWJj", "crc32 YWJj", "sha512 YWJj"] {
        Reply::to(part(&url, 0, first).header("upload-checksum", text)).expect_problem(400, "invalid");
    }
    assert_eq!(Reply::to(part(&url, 0, first).header("upload-checksum", sha256(first))).status, 204);
    let wrong = Reply::to(part(&url, 100_000, rest).header("upload-checksum", sha256(first)));
    wrong.expect_problem(460, "checksum_mismatch");
    assert_eq!((offset(&url), drive.get("checked").status), (Some(100_000), 404));
    assert_eq!(Reply::to(part(&url, 100_000, rest).header("upload-checksum", sha256(rest))).status, 204);
    assert!(drive.get("checked").body == content);

    let sent_along = begin(&drive, "sha1", 3)
        .header("content-type", "application/offset+octet-stream")
        .header("upload-checksum", "sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
        .body("abc");
    assert_eq!(Reply::to(sent_along).status, 201);
}

#[test]
fn conditions_hold_from_the_beginning_to_the_end() {
    let drive = Drive::new();
    let put = drive.put("a", "one");
    Reply::to(begin(&drive, "a", 3).header("if-none-match", "*")).expect_problem(412, "precondition_failed");
    Reply::to(begin(&drive, "a", 3).header("if-match", "\"x\"")).expect_problem(412, "precondition_failed");
    let matching = begin(&drive, "a", 3).header("if-match", put.header("etag"));
    let url = Reply::to(matching).header("location").to_owned();
    assert_eq!(Reply::to(part(&url, 0, b"tw")).status, 204);
    // Another one was faster.
    assert_eq!(drive.put("a", "1").status, 204);
    Reply::to(part(&url, 2, b"o")).expect_problem(412, "precondition_failed");
    assert_eq!(drive.get("a").body, b"1");
    assert_eq!(offset(&url), Some(2), "it is where it was before the last part");
    // What the client has seen is there again.
    assert_eq!(drive.put("a", "one").status, 204);
    assert_eq!(Reply::to(part(&url, 2, b"o")).status, 204);
    assert_eq!(drive.get("a").body, b"two");

    let new = begin(&drive, "new", 1).header("if-none-match", "*");
    let url = Reply::to(new).header("location").to_owned();
    assert_eq!(drive.put("new", "x").status, 201);
    Reply::to(part(&url, 0, b"y")).expect_problem(412, "precondition_failed");
}

#[test]
fn without_conditions_the_last_one_to_finish_wins_and_both_are_kept() {
    let drive = Drive::new();
    let url = begun(&drive, "a", 3);
    assert_eq!(drive.put("a", "put").status, 201);
    assert_eq!(Reply::to(part(&url, 0, b"tus")).status, 204);
    assert_eq!((drive.get("a").body.as_slice(), drive.versions("a").len()), (&b"tus"[..], 2));
}

#[test]
fn the_place_must_be_there_at_both_ends() {
    let drive = Drive::new();
    Reply::to(begin(&drive, "none/a", 1)).expect_problem(409, "parent_missing");
    assert_eq!(drive.make_folder("folder").status, 201);
    Reply::to(begin(&drive, "folder", 1)).expect_problem(409, "is_a_folder");
    let url = begun(&drive, "folder/a", 2);
    assert_eq!(drive.delete_folder("folder").status, 204);
    assert_eq!(Reply::to(part(&url, 0, b"a")).status, 204);
    Reply::to(part(&url, 1, b"b")).expect_problem(409, "parent_missing");
    assert_eq!(drive.make_folder("folder").status, 201);
    assert_eq!(Reply::to(part(&url, 1, b"b")).status, 204);
    assert_eq!(drive.get("folder/a").body, b"ab");
}

#[test]
fn an_upload_that_is_deleted_is_gone() {
    let drive = Drive::new();
    let url = begun(&drive, "gone", 1 << 20);
    assert_eq!(Reply::to(part(&url, 0, &noise(9, 500_000))).status, 204);
    assert_eq!(Reply::to(tus("DELETE", &url)).status, 204);
    assert_eq!(offset(&url), None);
    Reply::to(part(&url, 500_000, b"x")).expect_problem(404, "not_found");
    Reply::to(tus("DELETE", &url)).expect_problem(404, "not_found");
}

#[test]
fn a_client_without_patch_says_what_it_means() {
    let drive = Drive::new();
    let url = begun(&drive, "override", 3);
    let meant = tus("POST", &url)
        .header("x-http-method-override", "PATCH")
        .header("upload-offset", "0")
        .header("content-type", "application/offset+octet-stream")
        .body("abc");
    assert_eq!(Reply::to(meant).status, 204);
    assert_eq!(drive.get("override").body, b"abc");
    assert_eq!(Reply::to(tus("POST", &url)).status, 405);
}

#[test]
fn of_many_parts_at_one_place_one_is_taken() {
    let drive = Drive::new();
    let url = begun(&drive, "raced", 800_000);
    let contents: Vec<Vec<u8>> = (0..8).map(|n| noise(40 + n, 400_000)).collect();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let sent: Vec<_> =
            contents.iter().map(|content| scope.spawn(|| Reply::to(part(&url, 0, content)).status)).collect();
        sent.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 7, "{statuses:?}");
    let end = noise(50, 400_000);
    assert_eq!(Reply::to(part(&url, 400_000, &end)).status, 204);
    let won = statuses.iter().position(|status| *status == 204).unwrap();
    assert!(drive.get("raced").body == [contents[won].clone(), end].concat());
}
