//! Parts that are uploaded side by side, and joined.

use ledge_tests::{Drive, Reply, noise};

use super::{UPLOADS, metadata, part, tus};

fn partial(length: usize) -> String {
    let reply = Reply::to(
        tus("POST", UPLOADS)
            .header("upload-concat", "partial")
            .header("upload-length", length.to_string())
            .header(
                "upload-metadata",
                format!("space {}", {
                    use base64::Engine;
                    base64::engine::general_purpose::STANDARD.encode(Drive::space())
                }),
            ),
    );
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.body));
    reply.header("location").to_owned()
}

fn join(drive: &Drive, path: &str, parts: &[String]) -> Reply {
    Reply::to(
        tus("POST", UPLOADS)
            .header("upload-concat", format!("final;{}", parts.join(" ")))
            .header("upload-metadata", metadata(drive, path)),
    )
}

#[test]
fn parts_are_joined_and_no_byte_is_copied() {
    let drive = Drive::new();
    let contents = [noise(1, 9 << 20), noise(2, 3 << 20), noise(3, 5000)];
    let urls: Vec<String> = contents.iter().map(|content| partial(content.len())).collect();
    for (url, content) in urls.iter().zip(&contents).rev() {
        assert_eq!(Reply::to(tus("HEAD", url)).header("upload-concat"), "partial");
        let half = content.len() / 2;
        assert_eq!(Reply::to(part(url, 0, &content[..half])).status, 204);
        assert_eq!(Reply::to(part(url, half, &content[half..])).status, 204);
    }
    let absolute: Vec<String> = urls.iter().map(|url| Drive::absolute(url)).collect();
    let joined = join(&drive, "joined", &absolute);
    assert_eq!(joined.status, 201, "{}", String::from_utf8_lossy(&joined.body));
    assert_eq!((joined.stored_bytes(), joined.cost().1), (0, 0), "no byte of content moves");
    let read = drive.get("joined");
    assert!(read.body == contents.concat());
    assert_eq!(joined.header("etag"), read.header("etag"));
    let head = Reply::to(tus("HEAD", joined.header("location")));
    assert!(head.header("upload-concat").starts_with("final;"));
    assert_eq!(head.header("upload-offset"), contents.concat().len().to_string());
    assert_eq!(Reply::to(tus("HEAD", &urls[0])).status, 404, "the parts are the file's now");
}

#[test]
fn small_parts_are_joined_in_a_row() {
    let drive = Drive::new();
    let urls: Vec<String> = ["ab", "", "c"].iter().map(|text| partial(text.len())).collect();
    for (url, text) in urls.iter().zip(["ab", "", "c"]) {
        assert_eq!(Reply::to(part(url, 0, text.as_bytes())).status, 204);
    }
    assert_eq!(join(&drive, "small", &urls).status, 201);
    assert_eq!(drive.get("small").body, b"abc");

    // Small and large by turns.
    let contents: Vec<Vec<u8>> = (0..7).map(|n| noise(n, if n % 2 == 0 { 1000 } else { 300_000 })).collect();
    let urls: Vec<String> = contents.iter().map(|content| partial(content.len())).collect();
    for (url, content) in urls.iter().zip(&contents) {
        assert_eq!(Reply::to(part(url, 0, content)).status, 204);
    }
    assert_eq!(join(&drive, "mixed", &urls).status, 201);
    assert!(drive.get("mixed").body == contents.concat());
}

#[test]
fn what_is_not_whole_is_not_joined() {
    let drive = Drive::new();
    let urls = [partial(3), partial(3)];
    assert_eq!(Reply::to(part(&urls[0], 0, b"abc")).status, 204);
    assert_eq!(Reply::to(part(&urls[1], 0, b"de")).status, 204);
    join(&drive, "early", &urls).expect_problem(409, "incomplete");
    join(&drive, "none/early", &urls).expect_problem(409, "parent_missing");
    let none = "/api/v1/uploads/018f0000-0000-7000-8000-000000000000".to_owned();
    join(&drive, "none", &[urls[0].clone(), none]).expect_problem(409, "incomplete");
    for text in ["final", "final;", "final;/elsewhere/x", "whole"] {
        let malformed = tus("POST", UPLOADS)
            .header("upload-concat", text)
            .header("upload-metadata", metadata(&drive, "x"));
        Reply::to(malformed).expect_problem(400, "invalid");
    }
    assert_eq!(Reply::to(part(&urls[1], 2, b"f")).status, 204);
    let refused = tus("POST", UPLOADS)
        .header("upload-concat", format!("final;{}", urls.join(" ")))
        .header("upload-metadata", metadata(&drive, "early"))
        .header("if-match", "*");
    Reply::to(refused).expect_problem(412, "precondition_failed");
    assert_eq!(join(&drive, "early", &urls).status, 201, "the parts have waited");
    assert_eq!(drive.get("early").body, b"abcdef");
}
