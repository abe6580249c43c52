//! Preconditions.

use ledge_tests::{Drive, Reply};

fn put_if(drive: &Drive, name: &str, header: &str, value: &str, body: &'static str) -> u16 {
    Reply::to(drive.request("PUT", name).header(header, value).body(body)).status
}

#[test]
fn if_none_match_star_creates_and_never_replaces() {
    let drive = Drive::new();
    assert_eq!(put_if(&drive, "a", "if-none-match", "*", "one"), 201);
    assert_eq!(put_if(&drive, "a", "if-none-match", "*", "two"), 412);
    assert_eq!(drive.get("a").body, b"one");
}

#[test]
fn if_match_replaces_only_what_it_names() {
    let drive = Drive::new();
    assert_eq!(put_if(&drive, "a", "if-match", "*", "new"), 412);
    assert_eq!(drive.get("a").status, 404);
    let one = drive.put("a", "one");
    assert_eq!(put_if(&drive, "a", "if-match", one.header("etag"), "two"), 204);
    let stale = Reply::to(drive.request("PUT", "a").header("if-match", one.header("etag")).body("three"));
    stale.expect_problem(412, "precondition_failed");
    assert_eq!(drive.get("a").body, b"two");
}

#[test]
fn tags_that_clients_and_proxies_bend_still_match() {
    let drive = Drive::new();
    for bend in [
        |tag: &str| format!("W/{tag}"),
        |tag: &str| format!("{}-gzip\"", tag.trim_end_matches('"')),
        |tag: &str| tag.trim_matches('"').to_owned(),
        |tag: &str| format!("\"zzz\", {tag}"),
    ] {
        let saved = drive.put("a", "x");
        assert_eq!(put_if(&drive, "a", "if-match", &bend(saved.header("etag")), "y"), 204);
    }
}

#[test]
fn dates_compare_by_the_second() {
    let drive = Drive::new();
    let saved = drive.put("a", "one");
    let date = saved.header("last-modified");
    assert_eq!(drive.get_with("a", "if-modified-since", date).status, 304);
    assert_eq!(drive.get_with("a", "if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT").status, 200);
    assert_eq!(drive.get_with("a", "if-modified-since", "nonsense").status, 200);
    assert_eq!(put_if(&drive, "a", "if-unmodified-since", date, "two"), 204);
    assert_eq!(put_if(&drive, "a", "if-unmodified-since", "Sun, 06 Nov 1994 08:49:37 GMT", "three"), 412);
    assert_eq!(drive.get("a").body, b"two");
}

#[test]
fn readers_with_the_current_content_get_304() {
    let drive = Drive::new();
    let saved = drive.put("a", "one");
    let tag = saved.header("etag");
    for list in [tag.to_owned(), format!("\"zzz\", W/{tag}"), "*".to_owned()] {
        let reply = drive.get_with("a", "if-none-match", &list);
        assert_eq!((reply.status, reply.body.len()), (304, 0), "{list}");
        assert_eq!(reply.header("etag"), tag);
        assert_ne!(reply.header("last-modified"), "");
        assert_eq!(reply.header("content-type"), "");
    }
    assert_eq!(drive.get_with("a", "if-none-match", "\"zzz\"").status, 200);
    assert_eq!(drive.get_with("a", "if-match", "\"zzz\"").status, 412);
    // A download app's seek: a condition that holds, and a range.
    let seek = drive.request("GET", "a").header("if-match", tag).header("range", "bytes=1-");
    assert_eq!(Reply::to(seek).body, b"ne");
}
