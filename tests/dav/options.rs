//! OPTIONS.

use ledge_tests::{Dav, Wire};

const METHODS: [&str; 13] = [
    "OPTIONS",
    "GET",
    "HEAD",
    "PUT",
    "PATCH",
    "DELETE",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
];

#[test]
fn w111_w172_every_path_says_what_the_server_can_missing_ones_too() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    for path in ["", "f", "missing", "missing/zotero/"] {
        for signed in [true, false] {
            let request = Wire::new("OPTIONS", dav.target(path));
            let reply = if signed { request.signed() } else { request }.send();
            assert_eq!(reply.status, 200, "{path}");
            let classes: Vec<_> = reply.header("dav").split(',').map(str::trim).collect();
            assert!(["1", "2", "3"].iter().all(|class| classes.contains(class)), "{classes:?}");
            assert_eq!(reply.header("ms-author-via"), "DAV");
            let allowed: Vec<_> = reply.header("allow").split(',').map(str::trim).collect();
            // A missing path may be saved to, made a folder and locked; the rest does it no harm.
            let wanted = if path.starts_with("missing") {
                &["PUT", "MKCOL", "LOCK", "PROPFIND", "GET"][..]
            } else {
                &METHODS[..]
            };
            let lacking: Vec<_> = wanted.iter().filter(|method| !allowed.contains(method)).collect();
            assert!(lacking.is_empty() || lacking == [&"MKCOL"], "{path}: {lacking:?}");
        }
    }
}

#[test]
fn w088_locks_are_announced_wherever_finder_looks_for_them() {
    let dav = Dav::new();
    for method in ["OPTIONS", "PROPFIND"] {
        let reply = dav.request(method, "").header("depth", "0").send();
        assert!(
            reply.header("dav").split(',').any(|class| class.trim() == "2"),
            "{method}: {}",
            reply.header("dav")
        );
    }
}

#[test]
fn an_unknown_method_is_405_that_lists_the_known_ones() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let reply = dav.request("POST", "f").send();
    assert_eq!(reply.status, 405);
    assert!(reply.header("allow").contains("PROPFIND"));
}
