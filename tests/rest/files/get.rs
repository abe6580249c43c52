//! GET and HEAD.

use ledge_tests::{Drive, Reply, noise};

#[test]
fn a_missing_file_is_404_whatever_is_missing() {
    let drive = Drive::new();
    assert_eq!(drive.put("file", "x").status, 201);
    for path in ["missing", "no/such/folder/x", "file/below", "FILE"] {
        drive.get(path).expect_problem(404, "not_found");
        assert_eq!(Reply::to(drive.request("HEAD", path)).status, 404);
    }
}

#[test]
fn head_is_get_without_the_body() {
    let drive = Drive::new();
    for (name, size) in [("empty", 0), ("small", 10), ("large", 9 << 20)] {
        assert_eq!(drive.put(name, noise(1, size)).status, 201);
        let get = drive.get(name);
        let head = Reply::to(drive.request("HEAD", name));
        assert_eq!((head.status, head.body.len()), (200, 0));
        for header in ["content-length", "content-type", "etag", "last-modified", "accept-ranges"] {
            assert_eq!(head.header(header), get.header(header), "{name}: {header}");
            assert_ne!(head.header(header), "", "{name}: {header}");
        }
    }
}

#[test]
fn head_ignores_range() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "0123456789").status, 201);
    let head = Reply::to(drive.request("HEAD", "a").header("range", "bytes=0-1"));
    assert_eq!((head.status, head.header("content-length")), (200, "10"));
}

#[test]
fn methods_that_a_file_does_not_answer_are_405_with_allow() {
    let drive = Drive::new();
    let reply = Reply::to(drive.request("POST", "a").body("x"));
    reply.expect_problem(405, "method_not_allowed");
    assert_eq!(reply.header("allow"), "GET, HEAD, PUT, PATCH, DELETE");
    Reply::to(Drive::signed("GET", &Drive::absolute("/nowhere"))).expect_problem(404, "no_such_route");
}

#[test]
fn g13_active_content_never_runs_as_our_page() {
    let drive = Drive::new();
    for name in ["page.html", "image.svg", "page.xhtml", "plain.bin"] {
        assert_eq!(drive.put(name, "<script>alert(1)</script>").status, 201);
        for reply in [drive.get(name), drive.get_with(name, "range", "bytes=0-3"), drive.get("missing")] {
            assert_eq!(reply.header("content-security-policy"), "sandbox");
            assert_eq!(reply.header("x-content-type-options"), "nosniff");
            assert_eq!(reply.header("cache-control"), "private, no-transform");
        }
    }
}

#[test]
fn downloads_carry_the_name() {
    let drive = Drive::new();
    assert_eq!(drive.put("na%C3%AFve%20%22q%22.txt", "x").status, 201);
    let shown = drive.get("na%C3%AFve%20%22q%22.txt");
    assert_eq!(
        shown.header("content-disposition"),
        "inline; filename=\"na_ve _q_.txt\"; filename*=UTF-8''na%C3%AFve%20%22q%22.txt"
    );
    let saved = drive.get("na%C3%AFve%20%22q%22.txt?download");
    assert!(saved.header("content-disposition").starts_with("attachment; "));
}
