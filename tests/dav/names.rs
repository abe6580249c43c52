//! Paths in request targets, and the names that they mean.

use ledge_tests::{Dav, Drive, Wire};

#[test]
fn w005_w006_w007_w008_names_are_decoded_once_and_rest_sees_the_same_ones() {
    let dav = Dav::new();
    for (wire, name) in [
        ("100%2525.txt", "100%25.txt"),
        ("50%25%20done.md", "50% done.md"),
        ("a%2520b%23c.txt", "a%20b#c.txt"),
        ("%E4%BD%A0%20x.txt", "你 x.txt"),
    ] {
        assert_eq!(dav.put(wire, name).status, 201, "{name}");
        assert_eq!(dav.get(wire).body, name.as_bytes());
        assert_eq!(dav.rest.get(wire).body, name.as_bytes(), "REST agrees");
        assert!(dav.rest.names("").contains(&name.to_owned()), "{name}");
        assert!(dav.names("").contains(&name.to_owned()), "{name}");
    }
    for other in ["100%25.txt", "a%20b%23c.txt"] {
        assert_eq!(dav.get(other).status, 404, "{other} is another name");
    }
    for malformed in ["a%zz.md", "a%", "a%2", "%FF.txt"] {
        for method in ["PUT", "GET", "PROPFIND", "MKCOL"] {
            assert_eq!(dav.request(method, malformed).send().status, 400, "{method} {malformed}");
        }
    }
}

#[test]
fn w013_w191_normal_forms_meet_in_one_file_that_keeps_its_first_spelling() {
    let dav = Dav::new();
    assert_eq!(dav.put("cafe%CC%81.txt", "nfd").status, 201);
    assert_eq!(dav.get("caf%C3%A9.txt").body, b"nfd");
    assert_eq!(dav.put("caf%C3%A9.txt", "nfc").status, 204, "the same file");
    assert_eq!(dav.get("cafe%CC%81.txt").body, b"nfc");
    assert_eq!(dav.names(""), ["cafe\u{301}.txt"], "the bytes that came first");
}

#[test]
fn w015_w016_case_counts_and_is_kept() {
    let dav = Dav::new();
    assert_eq!(dav.put("Readme.TXT", "x").status, 201);
    assert_eq!(dav.mkcol("A").status, 201);
    assert_eq!(dav.mkcol("a").status, 201);
    for other in ["readme.txt", "README.TXT", "Desktop.ini", "a/desktop.ini"] {
        assert_eq!(dav.get(other).status, 404, "{other}");
        assert_eq!(dav.request("PROPFIND", other).header("depth", "0").send().status, 404, "{other}");
    }
    assert_eq!(dav.names(""), ["A/", "Readme.TXT", "a/"], "nothing came into being");
}

#[test]
fn w017_a_name_has_at_most_255_bytes_and_the_refusal_says_so() {
    let dav = Dav::new();
    let (fits, long) = ("x".repeat(255), "x".repeat(256));
    let (fits_wide, long_wide) = ("%C3%A9".repeat(127), "%C3%A9".repeat(128));
    for (name, status) in [(&fits, 201), (&long, 400), (&fits_wide, 201), (&long_wide, 400)] {
        let reply = dav.put(name, "x");
        assert_eq!(reply.status, status, "{name}");
        assert!(status == 201 || reply.text().contains("255"), "{}", reply.text());
    }
    let moved = dav.transfer("MOVE", &fits, &long).send();
    assert_eq!((moved.status, moved.text().contains("255")), (400, true));
    assert_eq!(dav.mkcol(&long).status, 400);
}

#[test]
fn w018_dots_within_a_name_are_a_name() {
    let dav = Dav::new();
    for name in ["a..b.txt", "...", "..a", "a..", ".hidden"] {
        assert_eq!(dav.put(name, name).status, 201, "{name}");
        assert_eq!(dav.get(name).body, name.as_bytes());
    }
}

#[test]
fn w020_an_encoded_slash_is_no_separator() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/b.txt", "secret").status, 201);
    for method in ["GET", "PUT", "PROPFIND", "DELETE", "MKCOL"] {
        assert_eq!(dav.request(method, "d%2Fb.txt").send().status, 400, "{method}");
    }
    assert_eq!(dav.transfer("MOVE", "d/b.txt", "d%2fc.txt").send().status, 400);
    assert_eq!(dav.get("d/b.txt").body, b"secret");
}

#[test]
fn w022_what_finder_leaves_behind_is_kept_as_any_file() {
    let dav = Dav::new();
    for name in ["._foo", ".DS_Store"] {
        assert_eq!(dav.put(name, "").status, 201, "{name}");
        assert_eq!(dav.put(name, "mac").status, 204, "{name}");
        assert_eq!(dav.get(name).body, b"mac");
    }
    assert_eq!(dav.request("PROPFIND", ".metadata_never_index").header("depth", "0").send().status, 404);
}

#[test]
fn w181_nothing_leaves_the_tree() {
    let dav = Dav::new();
    assert_eq!(dav.put("x", "mine").status, 201);
    let inside = dav.target("");
    for target in [
        "/dav/../x",
        "/dav/%2e%2e/%2e%2e/x",
        "/dav/..%2fx",
        "/dav/%252e%252e/x",
        "/dav/..\\..\\x",
        "/../../etc/passwd",
    ] {
        for method in ["GET", "PROPFIND", "PUT", "DELETE"] {
            let reply = Wire::new(method, target).signed().header("depth", "0").send();
            assert!([400, 403, 404, 405, 409].contains(&reply.status), "{method} {target}: {}", reply.status);
        }
        let reply = Wire::new("MOVE", format!("{inside}x")).signed().header("destination", target).send();
        assert!([400, 403, 404, 409, 502].contains(&reply.status), "MOVE to {target}: {}", reply.status);
        assert_eq!(dav.get("x").body, b"mine");
    }
    // An encoded backslash is a character of a name, and no way up.
    assert_eq!(dav.put("%2e%2e%5cx", "other").status, 201);
    assert_eq!(
        (dav.get("x").body, dav.names("")),
        (b"mine".to_vec(), vec!["..\\x".to_owned(), "x".to_owned()])
    );
    let reply = dav.transfer("COPY", "x", "../x").send();
    assert!([201, 204].contains(&reply.status), "resolved as any URL: the folder above is in the tree too");
    assert_eq!(Wire::new("DELETE", "/dav/x").signed().send().status, 204);
}

#[test]
fn w183_control_characters_are_refused_and_quotes_do_not_split_headers() {
    let dav = Dav::new();
    for name in ["a%0D%0AX-Evil:%201", "a%00b", "a%0Ab", "a%7Fb"] {
        for method in ["PUT", "MKCOL", "GET", "PROPFIND"] {
            assert_eq!(dav.request(method, name).send().status, 400, "{method} {name}");
        }
    }
    let name = "a%22%3B%20filename%3Devil.exe.txt";
    assert_eq!(dav.put(name, "x").status, 201);
    let disposition = dav.get(name).header("content-disposition").to_owned();
    assert!(disposition.contains("filename*=UTF-8''a%22%3B"), "{disposition}");
}

#[test]
fn g24_a_colon_is_legal_in_a_name() {
    let dav = Dav::new();
    for name in ["a:b.txt", "a%3Ac.txt"] {
        assert_eq!(dav.put(name, "x").status, 201, "{name}");
    }
    assert_eq!(dav.names(""), ["a:b.txt", "a:c.txt"]);
    assert_eq!(dav.transfer("MOVE", "a:b.txt", "c:d.txt").send().status, 201);
}

#[test]
fn g04_an_encoded_hash_is_an_ordinary_character() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "the file before it").status, 201);
    assert_eq!(dav.put("a%23x", "with").status, 201);
    assert_eq!(dav.transfer("MOVE", "a%23x", "a%23y").send().status, 201);
    assert_eq!(dav.delete("a%23y").status, 204);
    assert_eq!(dav.get("a").body, b"the file before it");
}

#[test]
fn g04_a_raw_hash_in_the_target_never_means_what_stands_before_it() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    if Drive::host() == "spin" {
        // Spin's server drops it with what follows before the component is asked, which can't know: the one host where it does.
        assert_eq!(dav.transfer("DELETE", "a#x", "b").send().status, 204);
        return;
    }
    for method in ["DELETE", "MOVE"] {
        let reply = dav.transfer(method, "a#x", "b").send();
        assert_eq!(reply.status, 400, "{method}: {}", reply.text());
    }
    assert_eq!(dav.get("a").body, b"x");
}
