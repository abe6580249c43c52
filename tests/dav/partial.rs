//! Parts of files: PUT with `Content-Range`, and PATCH as SabreDAV has it.

use ledge_tests::{Dav, Reply};

fn patch(dav: &Dav, path: &str, range: &str, body: &'static str) -> Reply {
    let request = dav.request("PATCH", path).header("content-type", "application/x-sabredav-partialupdate");
    request.header("x-update-range", range).body(body).send()
}

#[test]
fn w135_a_part_beyond_the_end_is_reached_through_zeros() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "0123456789").status, 201);
    let reply = patch(&dav, "f", "bytes=15-", "x");
    assert_eq!(reply.status, 204);
    let read = dav.get("f");
    assert_eq!(
        (read.body.as_slice(), read.header("etag")),
        (&b"0123456789\0\0\0\0\0x"[..], reply.header("etag"))
    );
    assert_eq!(patch(&dav, "f", "bytes=100000000000-", "x").status, 204);
    let end = dav.request("GET", "f").header("range", "bytes=-3").send();
    assert_eq!(end.body, b"\0\0x");
}

#[test]
fn sabredavs_partial_updates_write_where_they_say() {
    let dav = Dav::new();
    let options = dav.request("OPTIONS", "f").send();
    assert!(options.header("dav").split(", ").any(|it| it == "sabredav-partialupdate"));
    assert!(options.header("allow").split(", ").any(|it| it == "PATCH"));
    assert_eq!(patch(&dav, "f", "append", "x").status, 404);
    assert_eq!(dav.put("f", "0123456789").status, 201);
    for (range, body, status, after) in [
        ("bytes=3-5", "abc", 204, "012abc6789"),
        ("bytes=3-5", "abcd", 416, "012abc6789"),
        ("bytes=0-", "AB", 204, "AB2abc6789"),
        ("bytes=-2", "yz", 204, "AB2abc67yz"),
        ("bytes=-2", "!!!", 204, "AB2abc67!!!"),
        ("bytes=-12", "x", 416, "AB2abc67!!!"),
        ("append", "end", 204, "AB2abc67!!!end"),
        ("bytes", "x", 400, "AB2abc67!!!end"),
        ("bytes=5-3", "x", 400, "AB2abc67!!!end"),
    ] {
        assert_eq!(patch(&dav, "f", range, body).status, status, "{range}");
        assert_eq!(dav.get("f").text(), after, "{range}");
    }
    let other = dav.request("PATCH", "f").header("content-type", "text/plain");
    assert_eq!(other.header("x-update-range", "append").body("x").send().status, 415);
    let stale = dav.request("PATCH", "f").header("content-type", "application/x-sabredav-partialupdate");
    let stale = stale.header("x-update-range", "append").header("if-match", "\"other\"");
    assert_eq!(stale.body("x").send().status, 412);
    assert_eq!(dav.mkcol("folder").status, 201);
    assert_eq!(patch(&dav, "folder", "append", "x").status, 405);
    assert_eq!(dav.get("f").text(), "AB2abc67!!!end");
}

#[test]
fn a_lock_covers_parts_too() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "0123456789").status, 201);
    let lock = dav.locked("f");
    assert_eq!(patch(&dav, "f", "append", "x").status, 423);
    let part = dav.request("PUT", "f").header("content-range", "bytes 0-0/*").body("x").send();
    assert_eq!(part.status, 423);
    let held = dav.request("PATCH", "f").header("content-type", "application/x-sabredav-partialupdate");
    let held = held.header("x-update-range", "append").header("if", format!("(<{lock}>)"));
    assert_eq!(held.body("x").send().status, 204);
    assert_eq!(dav.get("f").text(), "0123456789x");
}

#[test]
fn w136_a_put_of_a_part_never_replaces_the_whole() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "0123456789").status, 201);
    let part = |path: &str, range: &str, body: &'static str| {
        dav.request("PUT", path).header("content-range", range).body(body).send()
    };
    let reply = part("f", "bytes 1-1/10", "x");
    assert_eq!((reply.status, dav.get("f").text()), (204, "0x23456789".to_owned()));
    assert_eq!(reply.header("etag"), dav.get("f").header("etag"));
    for (range, body, status) in [
        ("bytes 1-2/10", "x", 400),
        ("bytes */10", "x", 400),
        ("bytes 1-1/11", "x", 409),
        ("lines 1-1/10", "x", 400),
    ] {
        assert_eq!(part("f", range, body).status, status, "{range}");
        assert_eq!(dav.get("f").text(), "0x23456789", "{range}");
    }
    assert_eq!(part("f", "bytes 10-11/12", "ab").status, 204);
    assert_eq!(dav.get("f").text(), "0x23456789ab");
    // A client may send the parts of a file that isn't there yet.
    assert_eq!(part("new", "bytes 0-1/*", "ab").status, 201);
    assert_eq!(part("new", "bytes 2-3/*", "cd").status, 204);
    assert_eq!(dav.get("new").text(), "abcd");
}
