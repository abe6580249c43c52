//! Names on the wire.

use ledge_tests::{Drive, Reply};

#[test]
fn every_legal_name_can_be_saved_and_read() {
    let drive = Drive::new();
    for name in [
        "t%20%23%3A%3F3.txt",
        "a%26b%3Cc.txt",
        "100%2525.txt",
        "50%25%20done.md",
        "a%2520b%23c.txt",
        "%E4%BD%A0%20x.txt",
        "a..b.txt",
        "a%3Ab.txt",
        "%5bdir%5d",
        "back%5Cslash",
        "'quote%22s'",
        "plus+plus",
        "%F0%9F%A7%BF",
    ] {
        let saved = drive.put(name, name.to_owned());
        assert_eq!(saved.status, 201, "{name}");
        let read = drive.get(name);
        assert_eq!((read.status, read.body.as_slice()), (200, name.as_bytes()), "{name}");
    }
    // Encoded otherwise, the same name.
    assert_eq!(drive.get("%5Bdir%5D").body, b"%5bdir%5d");
    assert_eq!(drive.get("%61..b.txt").body, b"a..b.txt");
    // Not decoded twice, no folding of case.
    for other in ["100%25.txt", "a%20b%23c.txt", "A..b.txt"] {
        assert_eq!(drive.get(other).status, 404, "{other}");
    }
    let file = drive.put("t%20%23%3A%3F4.txt", "x").json();
    assert_eq!(file["name"], "t #:?4.txt");
}

#[test]
fn illegal_names_are_400_that_say_the_rule() {
    let drive = Drive::new();
    let long = "x".repeat(256);
    let wide = "%C3%A9".repeat(128);
    for (name, rule) in [
        ("a%00b", "control"),
        ("a%0D%0Ab", "control"),
        ("d%2Fb.txt", "slash"),
        ("%zz", "%"),
        ("%", "%"),
        ("%FF", "UTF-8"),
        ("a//b", "empty"),
        ("trailing/", "empty"),
        (long.as_str(), "255"),
        (wide.as_str(), "255"),
    ] {
        for method in ["PUT", "GET"] {
            let reply = Reply::to(drive.request(method, name).body("x"));
            reply.expect_problem(400, "invalid");
            let problem = reply.json();
            assert_eq!(problem["field"], "path", "{name}");
            assert!(problem["detail"].as_str().unwrap().contains(rule), "{name}: {problem}");
        }
    }
    assert_eq!(drive.put(&"x".repeat(255), "x").status, 201);
}

#[test]
fn normal_forms_meet_in_one_file_that_keeps_its_first_spelling() {
    let drive = Drive::new();
    assert_eq!(drive.put("cafe%CC%81.txt", "nfd").json()["name"], "cafe\u{301}.txt");
    assert_eq!(drive.get("caf%C3%A9.txt").body, b"nfd");
    assert_eq!(drive.put("caf%C3%A9.txt", "nfc").status, 204);
    assert_eq!(drive.get("cafe%CC%81.txt").body, b"nfc");
}

#[test]
fn dot_segments_are_resolved_before_routing_as_urls_are() {
    let drive = Drive::new();
    assert_eq!(drive.put("a.txt", "x").status, 201);
    // The client's own URL parser resolves these too, so this is the whole way of a browser.
    assert_eq!(drive.get("b/../a.txt").body, b"x");
    assert_eq!(drive.get("b/%2e%2e/a.txt").body, b"x");
}
