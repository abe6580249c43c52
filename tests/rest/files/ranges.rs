//! Ranges: RFC 9110 section 14, case G22 and the range cases of other servers' users.

use ledge_tests::{Drive, Reply, noise};

#[test]
fn single_ranges_of_ten_bytes() {
    let drive = Drive::new();
    assert_eq!(drive.put("ten", "0123456789").status, 201);
    for (range, status, body, content_range) in [
        ("bytes=0-", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=0-9", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=3-5", 206, "345", "bytes 3-5/10"),
        ("bytes=8-99", 206, "89", "bytes 8-9/10"),
        ("bytes=-2", 206, "89", "bytes 8-9/10"),
        ("bytes=-99999", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=10-,0-1", 206, "01", "bytes 0-1/10"),
        ("bytes=0-5, 1-7", 206, "01234567", "bytes 0-7/10"),
        ("bytes=5-2", 200, "0123456789", ""),
        ("bytes=x", 200, "0123456789", ""),
        ("lines=0-1", 200, "0123456789", ""),
    ] {
        let reply = drive.get_with("ten", "range", range);
        assert_eq!(reply.status, status, "{range}");
        assert_eq!(String::from_utf8_lossy(&reply.body), body, "{range}");
        assert_eq!(reply.header("content-range"), content_range, "{range}");
        assert_eq!(reply.header("content-length"), body.len().to_string(), "{range}");
        assert_ne!(reply.header("etag"), "");
    }
    for range in ["bytes=10-", "bytes=-0", "bytes=99999999999999999999-", "bytes=11-20, 30-"] {
        let reply = drive.get_with("ten", "range", range);
        reply.expect_problem(416, "range_not_satisfiable");
        assert_eq!(reply.header("content-range"), "bytes */10", "{range}");
    }
}

#[test]
fn an_empty_file_has_no_ranges() {
    let drive = Drive::new();
    assert_eq!(drive.put("empty", "").status, 201);
    for range in ["bytes=0-", "bytes=-5", "bytes=0-0"] {
        let reply = drive.get_with("empty", "range", range);
        assert_eq!((reply.status, reply.body.len()), (200, 0), "{range}");
    }
}

#[test]
fn ranges_across_segments() {
    let drive = Drive::new();
    let content = noise(77, 40 << 20);
    assert_eq!(drive.put("a", content.clone()).status, 201);
    let size = content.len();
    for (from, to) in [(0, 1), (7 << 20, 9 << 20), (1, size - 1), (size - 1, size), (20_000_000, 20_000_001)]
    {
        let reply = drive.get_with("a", "range", &format!("bytes={from}-{}", to - 1));
        assert_eq!(reply.status, 206);
        assert!(reply.body == content[from..to], "{from}..{to}");
    }
    let suffix = drive.get_with("a", "range", "bytes=-10000000");
    assert!(suffix.body == content[size - 10_000_000..]);
}

#[test]
fn several_ranges_come_as_multipart() {
    let drive = Drive::new();
    let large = noise(78, 20 << 20);
    assert_eq!(drive.put("ten", "0123456789").status, 201);
    assert_eq!(drive.put("large", large.clone()).status, 201);
    for (name, content, ranges) in [
        ("ten", b"0123456789".to_vec(), vec![(0, 1), (4, 5)]),
        ("large", large, vec![(19_000_000, 19_999_999), (5, 9), (7_000_000, 9_000_000)]),
    ] {
        let list: Vec<String> = ranges.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        let reply = drive.get_with(name, "range", &format!("bytes={}", list.join(",")));
        assert_eq!(reply.status, 206);
        assert_eq!(reply.header("content-range"), "");
        assert_eq!(reply.header("content-length"), reply.body.len().to_string());
        let boundary = reply.header("content-type").strip_prefix("multipart/byteranges; boundary=").unwrap();
        let mut expected = Vec::new();
        for (first, last) in ranges {
            let head = format!(
                "\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes {first}-{last}/{}\r\n\r\n",
                content.len()
            );
            expected.extend_from_slice(head.as_bytes());
            expected.extend_from_slice(&content[first..=last]);
        }
        expected.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        assert!(reply.body == expected, "{name}");
    }
}

#[test]
fn g22_if_range_never_mixes_two_versions() {
    let drive = Drive::new();
    let old = drive.put("a", "0123456789");
    let fresh = drive.put("a", "abcdefghij");
    let get = |if_range: &str| {
        Reply::to(drive.request("GET", "a").header("range", "bytes=5-").header("if-range", if_range))
    };
    let current = get(fresh.header("etag"));
    assert_eq!((current.status, current.body.as_slice()), (206, b"fghij".as_slice()));
    let weak = format!("W/{}", fresh.header("etag"));
    let long_ago = "Sun, 06 Nov 1994 08:49:37 GMT";
    for stale in [old.header("etag"), weak.as_str(), long_ago, "nonsense"] {
        let whole = get(stale);
        assert_eq!((whole.status, whole.body.as_slice()), (200, b"abcdefghij".as_slice()), "{stale}");
    }
}
