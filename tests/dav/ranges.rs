//! Ranges, as players and resuming downloads ask for them.

use ledge_tests::{Dav, Reply, noise};

fn range(dav: &Dav, range: &str) -> Reply {
    dav.get_with("f", "range", range)
}

fn ten_bytes() -> Dav {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "0123456789").status, 201);
    dav
}

#[test]
fn w147_w148_a_range_is_206_with_its_place() {
    let dav = ten_bytes();
    for (asked, place, content) in [
        ("bytes=0-", "bytes 0-9/10", "0123456789"),
        ("bytes=0-9", "bytes 0-9/10", "0123456789"),
        ("bytes=0-100", "bytes 0-9/10", "0123456789"),
        ("bytes=2-5", "bytes 2-5/10", "2345"),
        ("bytes=-3", "bytes 7-9/10", "789"),
    ] {
        let reply = range(&dav, asked);
        assert_eq!((reply.status, reply.header("content-range")), (206, place), "{asked}");
        assert_eq!(reply.body, content.as_bytes(), "{asked}");
        assert_eq!(reply.header("content-length"), content.len().to_string(), "{asked}");
        assert!(!reply.header("etag").is_empty());
        assert_eq!(reply.header("accept-ranges"), "bytes");
    }
}

#[test]
fn w150_w152_w156_what_lies_behind_the_end_is_416_with_the_size() {
    let dav = ten_bytes();
    for asked in ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"] {
        let reply = range(&dav, asked);
        assert_eq!((reply.status, reply.header("content-range")), (416, "bytes */10"), "{asked}");
    }
}

#[test]
fn w151_a_suffix_longer_than_the_file_is_all_of_it() {
    let reply = range(&ten_bytes(), "bytes=-99999");
    assert_eq!((reply.status, reply.header("content-range")), (206, "bytes 0-9/10"));
}

#[test]
fn w153_an_empty_file_is_200_whatever_is_asked_of_it() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "").status, 201);
    for asked in ["bytes=-5", "bytes=0-", "bytes=0-0"] {
        let reply = range(&dav, asked);
        assert_eq!((reply.status, reply.body.len()), (200, 0), "{asked}");
    }
}

#[test]
fn w155_a_range_that_ends_before_it_begins_never_gives_other_bytes() {
    let reply = range(&ten_bytes(), "bytes=5-2");
    assert!(reply.status == 416 || (reply.status == 200 && reply.body == b"0123456789"), "{}", reply.status);
}

#[test]
fn w157_of_several_ranges_those_that_exist_are_sent() {
    let reply = range(&ten_bytes(), "bytes=10-,0-1");
    assert_eq!((reply.status, reply.header("content-range")), (206, "bytes 0-1/10"));
    assert_eq!(reply.body, b"01");
}

#[test]
fn w158_several_ranges_are_a_strict_multipart() {
    let reply = range(&ten_bytes(), "bytes=0-1,4-5");
    assert_eq!(reply.status, 206);
    let boundary = reply.header("content-type").strip_prefix("multipart/byteranges; boundary=").unwrap();
    assert!(boundary.len() >= 8 && boundary != "BOUNDARY", "{boundary}");
    assert_eq!(reply.header("content-length"), reply.body.len().to_string());
    let text = reply.text();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    let parts: Vec<_> = text.split(&format!("--{boundary}")).collect();
    assert_eq!(parts.len(), 4, "{text}");
    for (part, place, content) in [(parts[1], "bytes 0-1/10", "01"), (parts[2], "bytes 4-5/10", "45")] {
        let (head, body) = part.split_once("\r\n\r\n").unwrap();
        let head = head.to_lowercase();
        assert!(
            head.contains(&format!("content-range: {place}")) && head.contains("content-type:"),
            "{head}"
        );
        assert_eq!(body.trim_end_matches("\r\n"), content);
    }
    assert!(parts[3].starts_with("--"));
}

#[test]
fn w160_overlapping_ranges_are_no_error() {
    let dav = Dav::new();
    let content = noise(160, 1000);
    assert_eq!(dav.put("f", content.clone()).status, 201);
    let reply = range(&dav, "bytes=0-50, 10-150");
    assert_eq!(reply.status, 206);
    if reply.header("content-range").is_empty() {
        assert!(reply.header("content-type").starts_with("multipart/byteranges"));
    } else {
        assert_eq!((reply.header("content-range"), &reply.body[..]), ("bytes 0-150/1000", &content[..151]));
    }
}

#[test]
fn w161_if_range_takes_only_a_strong_match() {
    let dav = ten_bytes();
    let etag = dav.get("f").header("etag").to_owned();
    for (if_range, status) in [(etag.clone(), 206), (format!("W/{etag}"), 200), ("\"stale\"".to_owned(), 200)]
    {
        let reply = dav.request("GET", "f").header("range", "bytes=0-1").header("if-range", &if_range).send();
        assert_eq!(reply.status, status, "{if_range}");
    }
}

#[test]
fn w162_head_knows_no_ranges() {
    let dav = ten_bytes();
    let reply = dav.request("HEAD", "f").header("range", "bytes=0-1").send();
    assert_eq!((reply.status, reply.header("content-length")), (200, "10"));
}
