//! Conditions of RFC 9110, as WebDAV clients send them.

use ledge_tests::{Dav, noise};

#[test]
fn w121_a_save_on_what_was_not_seen_is_refused() {
    let dav = Dav::new();
    let old = dav.put("f", "old").header("etag").to_owned();
    assert_eq!(dav.put("f", "somebody else's").status, 204);
    for (header, value) in [("if-match", old.as_str()), ("if-none-match", "*")] {
        assert_eq!(dav.request("PUT", "f").header(header, value).body("lost").send().status, 412, "{header}");
    }
    assert_eq!(dav.request("PUT", "new").header("if-match", "*").body("x").send().status, 412);
    assert_eq!(dav.request("PUT", "new").header("if-none-match", "*").body("x").send().status, 201);
    assert_eq!(dav.get("f").body, b"somebody else's");
    let delete = dav.request("DELETE", "f").header("if-match", &old).send();
    assert_eq!(delete.status, 412);
    for method in ["MOVE", "COPY"] {
        let reply = dav.transfer(method, "f", "g").header("if-match", &old).send();
        assert_eq!(reply.status, 412, "{method}");
    }
    assert_eq!(dav.get("g").status, 404);
}

#[test]
fn w125_tags_that_proxies_and_clients_bent_still_match() {
    let dav = Dav::new();
    assert_eq!(dav.get_with("none", "accept-encoding", "gzip").status, 404);
    let mut etag = dav.put("f", "0").header("etag").trim_matches('"').to_owned();
    for (n, bent) in ["W/\"@\"", "\"@-gzip\"", "@", "\"@\""].iter().enumerate() {
        let bent = bent.replace('@', &etag);
        let reply = dav.request("PUT", "f").header("if-match", &bent).body(format!("content {n}")).send();
        assert_eq!(reply.status, 204, "{bent}");
        reply.header("etag").trim_matches('"').clone_into(&mut etag);
    }
    assert!(dav.get("f").header("cache-control").contains("no-transform"));
}

#[test]
fn w126_w127_w112_whoever_has_the_file_gets_304_and_nobody_else() {
    let dav = Dav::new();
    let saved = dav.put("f", "x");
    let etag = saved.header("etag").to_owned();
    for list in [etag.clone(), format!("W/{etag}"), format!("\"zzz\", W/{etag}"), "*".to_owned()] {
        let reply = dav.get_with("f", "if-none-match", &list);
        assert_eq!((reply.status, reply.header("etag")), (304, etag.as_str()), "{list}");
    }
    let reply = dav.request("GET", "f").header("if-none-match", "\"zzz\"");
    let reply = reply.header("if-modified-since", saved.header("last-modified")).send();
    assert_eq!(reply.status, 200, "the tag decides, not the date");
}

#[test]
fn w128_dates_compare_by_the_second() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let modified = dav.get("f").header("last-modified").to_owned();
    assert_eq!(dav.get_with("f", "if-modified-since", &modified).status, 304);
    let save = dav.request("PUT", "f").header("if-unmodified-since", &modified).body("y").send();
    assert_eq!(save.status, 204);
    let early = "Mon, 05 Feb 2001 04:05:06 GMT";
    assert_eq!(dav.get_with("f", "if-modified-since", early).status, 200);
    assert_eq!(dav.request("PUT", "f").header("if-unmodified-since", early).body("z").send().status, 412);
}

#[test]
fn w130_a_range_with_the_right_tag_is_206() {
    let dav = Dav::new();
    let etag = dav.put("f", noise(130, 10_000)).header("etag").to_owned();
    let reply = dav.request("GET", "f").header("range", "bytes=100-199").header("if-match", &etag).send();
    assert_eq!((reply.status, reply.body.len()), (206, 100));
}
