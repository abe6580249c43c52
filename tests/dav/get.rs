//! GET and HEAD.

use ledge_tests::{Dav, noise};

#[test]
fn w142_w163_the_length_is_always_told_and_nothing_is_transformed() {
    let dav = Dav::new();
    let content = "compressible ".repeat(10_000);
    assert_eq!(dav.put("f.txt", content.clone()).status, 201);
    for method in ["GET", "HEAD"] {
        let reply = dav.request(method, "f.txt").header("accept-encoding", "gzip, br").send();
        assert_eq!(reply.header("content-length"), content.len().to_string(), "{method}");
        assert_eq!(reply.header("content-encoding"), "", "{method}");
        assert!(reply.header("cache-control").contains("no-transform"), "{method}");
        assert!(reply.header("etag").starts_with('"'), "{method}");
    }
}

#[test]
fn w166_content_comes_from_here_and_never_by_redirect() {
    let dav = Dav::new();
    let content = noise(166, 100_000);
    assert_eq!(dav.put("f", content.clone()).status, 201);
    let read = dav.get("f");
    assert!(read.status == 200 && read.body == content);
    assert_eq!(dav.request("HEAD", "f").send().status, 200);
}

#[test]
fn w167_compressed_content_stays_as_it_is() {
    let dav = Dav::new();
    let gzip = [&[0x1f, 0x8b, 8, 0][..], &noise(167, 9000)].concat();
    let saved = dav.request("PUT", "f.json.gz").header("content-encoding", "gzip").body(gzip.clone()).send();
    assert_eq!(saved.status, 201, "{}", saved.text());
    for accepted in ["identity", "gzip"] {
        let read = dav.get_with("f.json.gz", "accept-encoding", accepted);
        assert!(read.body == gzip, "{accepted}");
        assert_eq!(read.header("content-length"), gzip.len().to_string());
    }
}

#[test]
fn w168_active_content_does_not_run_as_a_page_of_this_origin() {
    let dav = Dav::new();
    for name in ["evil.html", "evil.svg", "evil.xhtml", "evil.xml"] {
        assert_eq!(dav.put(name, "<script>alert(1)</script>").status, 201);
        let reply = dav.get(name);
        assert!(reply.header("content-security-policy").contains("sandbox"), "{name}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{name}");
        assert!(reply.header("content-disposition").starts_with("attachment"), "{name}");
    }
    assert_eq!(dav.put("photo.jpg", "x").status, 201);
    assert!(!dav.get("photo.jpg").header("content-disposition").starts_with("attachment"));
}

#[test]
fn w016_a_missing_file_is_404_at_the_cost_of_one_round_trip() {
    let dav = Dav::new();
    for method in ["GET", "HEAD", "PROPFIND"] {
        let reply = dav.request(method, "missing/FOO.txt").header("depth", "0").send();
        assert_eq!((reply.status, reply.cost()), (404, (1, 0)), "{method}");
    }
}
