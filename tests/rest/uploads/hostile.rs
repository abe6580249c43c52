//! What is wrong on purpose: a clear answer, and nothing kept.

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_tests::{Drive, Reply, noise};

use super::{UPLOADS, begin, begun, metadata, offset, part, tus};

#[test]
fn wrong_and_overlapping_offsets_are_409_and_change_nothing() {
    let drive = Drive::new();
    let url = begun(&drive, "a", 10);
    assert_eq!(Reply::to(part(&url, 0, b"01234")).status, 204);
    for wrong in [0, 4, 6, 10, 11] {
        Reply::to(part(&url, wrong, b"x")).expect_problem(409, "wrong_offset");
    }
    for malformed in ["-1", "+5", "5.0", "x", "", "18446744073709551616"] {
        let bad = tus("PATCH", &url)
            .header("upload-offset", malformed)
            .header("content-type", "application/offset+octet-stream");
        Reply::to(bad.body("x")).expect_problem(400, "invalid");
    }
    let without = tus("PATCH", &url).header("content-type", "application/offset+octet-stream");
    Reply::to(without.body("x")).expect_problem(400, "invalid");
    assert_eq!(offset(&url), Some(5));
    assert_eq!(Reply::to(part(&url, 5, b"56789")).status, 204);
    assert_eq!(drive.get("a").body, b"0123456789");
}

#[test]
fn more_than_the_length_is_refused() {
    let drive = Drive::new();
    let url = begun(&drive, "a", 3);
    Reply::to(part(&url, 0, b"abcd")).expect_problem(400, "invalid");
    // Without a length of its own, too.
    let streamed = reqwest::blocking::Body::new(std::io::Cursor::new(noise(1, 64 << 10)));
    let unannounced = tus("PATCH", &url)
        .header("upload-offset", "0")
        .header("content-type", "application/offset+octet-stream")
        .body(streamed);
    Reply::to(unannounced).expect_problem(400, "invalid");
    assert_eq!((offset(&url), drive.get("a").status), (Some(0), 404));
}

#[test]
fn a_huge_length_is_413_and_a_malformed_one_400() {
    let drive = Drive::new();
    for huge in ["8796093022209", "9007199254740993", "18446744073709551615"] {
        let request = tus("POST", UPLOADS)
            .header("upload-length", huge)
            .header("upload-metadata", metadata(&drive, "huge"));
        Reply::to(request).expect_problem(413, "body_too_large");
    }
    for malformed in ["18446744073709551616", "-1", "1e3", "", "0x10"] {
        let request = tus("POST", UPLOADS)
            .header("upload-length", malformed)
            .header("upload-metadata", metadata(&drive, "huge"));
        Reply::to(request).expect_problem(400, "invalid");
    }
    let neither = tus("POST", UPLOADS).header("upload-metadata", metadata(&drive, "huge"));
    Reply::to(neither).expect_problem(400, "invalid");
    Reply::to(begin(&drive, "huge", 3).header("upload-defer-length", "1")).expect_problem(400, "invalid");
}

#[test]
fn metadata_bombs_are_refused() {
    let drive = Drive::new();
    let good = metadata(&drive, "a");
    let many: String = (0..200).map(|n| format!(",k{n} YQ==")).collect();
    for bomb in [
        format!("{good},x {}", STANDARD.encode(vec![b'x'; 9000])),
        format!("{good}{many}"),
        format!("{good},{good}"),
        format!("{good},x !"),
        format!("path {}", STANDARD.encode("a/".repeat(129) + "a")),
        format!("path {}", STANDARD.encode("x".repeat(256))),
        format!("path {}", STANDARD.encode([0xff, 0xfe])),
        format!("path {}", STANDARD.encode("a/../b")),
        format!("path {}", STANDARD.encode("a\r\nb")),
        format!("space {}", STANDARD.encode(Drive::space())),
        format!("{good},modified_at {}", STANDARD.encode("now")),
        format!("{good},filetype {}", STANDARD.encode("x".repeat(300))),
        String::new(),
    ] {
        let request = tus("POST", UPLOADS).header("upload-length", "1").header("upload-metadata", &bomb);
        Reply::to(request).expect_problem(400, "invalid");
    }
    let nowhere =
        format!("{},space {}", "path YQ==", STANDARD.encode("018f0000-0000-7000-8000-000000000000"));
    let request = tus("POST", UPLOADS).header("upload-length", "1").header("upload-metadata", nowhere);
    Reply::to(request).expect_problem(404, "not_found");
}

#[test]
fn other_versions_and_other_bodies_are_refused() {
    let drive = Drive::new();
    let url = begun(&drive, "a", 3);
    for (method, url) in [("POST", UPLOADS), ("PATCH", &url), ("DELETE", &url)] {
        for version in [None, Some("0.2.2")] {
            let mut request = Drive::signed(method, &Drive::absolute(url));
            if let Some(version) = version {
                request = request.header("tus-resumable", version);
            }
            let reply = Reply::to(request);
            reply.expect_problem(412, "precondition_failed");
            assert_eq!(reply.header("tus-version"), "1.0.0");
        }
    }
    assert_eq!(Reply::to(Drive::signed("HEAD", &Drive::absolute(&url))).status, 412);
    let other = tus("PATCH", &url).header("upload-offset", "0").header("content-type", "text/plain");
    Reply::to(other.body("abc")).expect_problem(415, "unsupported_media_type");
    let other = begin(&drive, "b", 3).header("content-type", "text/plain").body("abc");
    Reply::to(other).expect_problem(415, "unsupported_media_type");
    assert_eq!(Reply::to(Drive::anonymous("PATCH", &Drive::absolute(&url))).status, 401);
    let unknown = "/api/v1/uploads/018f0000-0000-7000-8000-000000000000";
    Reply::to(part(unknown, 0, b"abc")).expect_problem(404, "not_found");
    Reply::to(part("/api/v1/uploads/x", 0, b"abc")).expect_problem(404, "not_found");
    assert_eq!(offset(&url), Some(0));
}
