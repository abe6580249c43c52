//! What PROPFIND calls things: hrefs, display names, slashes.

use ledge_tests::{Dav, decoded};

/// Names as they are, and one right way to write them in a URL.
const ODD: [(&str, &str); 12] = [
    ("t #:?3.txt", "t%20%23%3A%3F3.txt"),
    ("a&b<c.txt", "a%26b%3Cc.txt"),
    ("a]]>b\"'.txt", "a%5D%5D%3Eb%22%27.txt"),
    ("100%25.txt", "100%2525.txt"),
    ("a%20b#c.txt", "a%2520b%23c.txt"),
    ("你 x.txt", "%E4%BD%A0%20x.txt"),
    ("a..b.txt", "a..b.txt"),
    ("[dir]", "%5bdir%5d"),
    ("back\\slash", "back%5Cslash"),
    ("a$b,c@d+e;f=g!", "a%24b%2Cc%40d%2Be%3Bf%3Dg%21"),
    ("~tilde", "~tilde"),
    ("🧿", "%F0%9F%A7%BF"),
];

#[test]
fn w001_w002_w003_hrefs_are_encoded_and_escaped_so_that_every_name_comes_back() {
    let dav = Dav::new();
    for (name, wire) in ODD {
        assert_eq!(dav.put(wire, name).status, 201, "{name}");
        assert_eq!(dav.mkcol(&format!("{wire}.d")).status, 201, "{name}");
    }
    let mut wanted: Vec<String> =
        ODD.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("{name}.d/")]).collect();
    wanted.sort();
    assert_eq!(dav.names(""), wanted);
    for href in dav.propfind("", "1").hrefs() {
        assert!(href.is_ascii() && !href.contains([' ', '<', '>', '"', '#', '?', '&']), "{href}");
        let reply = ledge_tests::Wire::new("PROPFIND", href).signed().header("depth", "0").send();
        assert_eq!(reply.multistatus().only().href, href, "what a listing says can be asked for");
    }
}

#[test]
fn w010_w011_a_name_is_the_same_in_every_encoding_and_hrefs_write_it_in_one() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("a%24b%2c%40%2b").status, 201);
    assert_eq!(dav.put("a$b,@+/%5Bx%5D", "1").status, 201);
    let listed: Vec<_> = ["a%24b%2C%40%2B", "a$b,@+", "a$b%2c@%2B"]
        .map(|way| {
            dav.propfind(&format!("{way}/"), "1").hrefs().iter().map(|href| (*href).to_owned()).collect()
        })
        .into_iter()
        .collect::<Vec<Vec<String>>>();
    assert_eq!(listed[0], listed[1]);
    assert_eq!(listed[1], listed[2]);
    for way in ["%5bx%5d", "%5Bx%5D", "[x]", "%5B%78%5d"] {
        assert_eq!(dav.get(&format!("a$b,@+/{way}")).body, b"1", "{way}");
    }
}

#[test]
fn w012_a_display_name_is_plain_text() {
    let dav = Dav::new();
    for (name, wire) in ODD {
        assert_eq!(dav.put(wire, "x").status, 201, "{name}");
        assert_eq!(dav.propfind(wire, "0").only().text("displayname"), name);
    }
    assert_eq!(dav.mkcol("a%20b").status, 201);
    assert_eq!(dav.propfind("a%20b/", "0").only().text("displayname"), "a b");
}

#[test]
fn w021_no_href_holds_an_empty_segment_whatever_was_asked_for() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("a").status, 201);
    assert_eq!(dav.mkcol("a/b").status, 201);
    assert_eq!(dav.put("a/b/c", "x").status, 201);
    let reply = dav.request("PROPFIND", "/a//b/").header("depth", "1").send();
    if reply.status == 207 {
        assert!(reply.multistatus().hrefs().iter().all(|href| !href.contains("//")), "{}", reply.text());
    } else {
        assert!([301, 308, 400, 404].contains(&reply.status), "{}", reply.status);
    }
}

#[test]
fn w062_w063_g27_a_folder_lists_itself_first_with_a_slash_and_its_folders_have_one_too() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("dir").status, 201);
    assert_eq!(dav.mkcol("dir/sub").status, 201);
    assert_eq!(dav.put("dir/file", "x").status, 201);
    for way in ["dir", "dir/"] {
        let listed = dav.propfind(way, "1");
        assert_eq!(listed.responses.len(), 3, "{way}");
        assert_eq!(listed.responses[0].href, dav.target("dir/"), "{way}");
        for response in &listed.responses {
            assert_eq!(response.is_collection(), response.href.ends_with('/'), "{}", response.href);
        }
    }
    assert_eq!(dav.propfind("dir", "0").only().href, dav.target("dir/"));
    assert_eq!(dav.propfind("dir/file", "0").only().href, dav.target("dir/file"));
    assert_eq!(dav.propfind("dir/file", "1").only().href, dav.target("dir/file"), "a file has no members");
}

#[test]
fn w057_hrefs_are_paths_without_a_host() {
    let dav = Dav::new();
    assert_eq!(dav.put("x", "x").status, 201);
    for href in dav.propfind("", "1").hrefs() {
        assert!(decoded(href).starts_with(&dav.target("")), "{href}");
    }
}
