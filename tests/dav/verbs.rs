//! What each verb does, and what it costs.

use ledge_tests::{Dav, Drive, Reply, Wire};
use serde_json::json;

#[test]
fn options_answers_anybody_anywhere() {
    for target in ["/dav/", "/dav", "/dav/no/such/path", "/"] {
        let reply = Wire::new("OPTIONS", target).send();
        assert_eq!((reply.status, reply.header("ms-author-via")), (200, "DAV"), "{target}");
        assert!(reply.header("dav").starts_with('1'));
        for verb in ["GET", "PUT", "PROPFIND", "MKCOL", "COPY", "MOVE"] {
            assert!(reply.header("allow").split(", ").any(|allowed| allowed == verb), "{verb}");
        }
    }
}

#[test]
fn a_stranger_is_told_so_before_anything_else() {
    let drive = Dav::new();
    for (method, path) in
        [("PROPFIND", "none"), ("GET", "none"), ("PUT", "a"), ("DELETE", ""), ("MKCOL", "b"), ("POST", "")]
    {
        for request in [
            Wire::new(method, drive.target(path)),
            Wire::new(method, drive.target(path)).basic("me", "wrong"),
            Wire::new(method, drive.target(path)).basic("me", "ldg_aaaqeayeaudaocajbifqydiob4ibceqtwhzlsyy"),
        ] {
            let reply = request.send();
            assert_eq!(reply.status, 401, "{method}");
            assert_eq!(reply.header("www-authenticate"), "Basic realm=\"Ledge\", charset=\"UTF-8\"");
        }
    }
    assert_eq!(drive.names(""), Vec::<String>::new());
}

#[test]
fn what_is_saved_here_is_there_and_costs_two_round_trips() {
    let drive = Dav::new();
    let created = drive.put("a.txt", "one");
    assert_eq!((created.status, created.body.len()), (201, 0));
    let replaced = drive.put("a.txt", "two");
    assert_eq!((replaced.status, replaced.cost()), (204, (2, 0)));
    assert_ne!(created.header("etag"), replaced.header("etag"));
    let rest = drive.rest.get("a.txt");
    assert_eq!(rest.body, b"two");
    let read = drive.get("a.txt");
    assert_eq!((read.status, read.body.as_slice(), read.cost()), (200, b"two".as_slice(), (1, 0)));
    for name in ["etag", "last-modified", "content-type"] {
        assert_eq!(read.header(name), rest.header(name), "{name}");
    }
    for name in ["etag", "last-modified"] {
        assert_eq!(read.header(name), replaced.header(name), "{name}");
    }
    assert_eq!(drive.put("none/a", "x").status, 409);
    assert_eq!(drive.put("a.txt/b", "x").status, 409);
    assert_eq!(drive.mkcol("d").status, 201);
    for path in ["d", "d/", "new/"] {
        assert_eq!(drive.put(path, "x").status, 405, "{path}");
    }
    assert_eq!(drive.get("d").status, 405);
    assert_eq!(drive.get("none").status, 404);
}

#[test]
fn folders_are_made_once_and_below_what_there_is() {
    let drive = Dav::new();
    assert_eq!((drive.mkcol("a").status, drive.mkcol("a/b/").status), (201, 201));
    assert_eq!(drive.mkcol("a").status, 405);
    assert_eq!(drive.mkcol("none/c").status, 409);
    assert_eq!(drive.put("f", "x").status, 201);
    assert_eq!((drive.mkcol("f").status, drive.mkcol("f/c").status), (405, 409));
    assert_eq!(drive.request("MKCOL", "c").body(" \r\n").send().status, 201);
    assert_eq!(drive.request("MKCOL", "e").body("{}").send().status, 415);
    assert_eq!(drive.names(""), ["a/", "c/", "f"]);
}

#[test]
fn a_deletion_fills_the_trash() {
    let drive = Dav::new();
    assert_eq!((drive.mkcol("a").status, drive.put("a/f", "x").status), (201, 201));
    assert_eq!(drive.request("DELETE", "a/").header("depth", "0").send().status, 400);
    let kept = drive.request("DELETE", "a/f").header("if-match", "\"other\"").send();
    assert_eq!(kept.status, 412);
    let reply = drive.delete("a");
    assert_eq!((reply.status, reply.cost()), (204, (2, 0)));
    assert_eq!((drive.delete("a").status, drive.get("a/f").status), (404, 404));
    assert_eq!(Wire::new("DELETE", "/dav/").signed().send().status, 403);
    assert_eq!(Wire::new("DELETE", "/dav").signed().send().status, 403);
    let trash = Reply::to(Drive::in_space("GET", "trash?limit=1000")).json();
    assert!(trash["entries"].as_array().unwrap().iter().any(|entry| entry["name"] == "a"));
}

#[test]
fn a_transfer_goes_where_it_is_sent_and_nowhere_else() {
    let drive = Dav::new();
    assert_eq!((drive.mkcol("a").status, drive.put("a/f", "x").status), (201, 201));
    let copied = drive.transfer("COPY", "a", "b").send();
    assert_eq!((copied.status, copied.cost()), (201, (2, 0)));
    let moved = drive.transfer("MOVE", "b", "c/").send();
    assert_eq!((moved.status, moved.cost()), (201, (2, 0)));
    assert_eq!(drive.get("c/f").body, b"x");
    assert_eq!(drive.transfer("COPY", "a", "c").header("overwrite", "F").send().status, 412);
    assert_eq!(drive.transfer("COPY", "a", "c").send().status, 204);
    assert_eq!(drive.transfer("COPY", "a", "none/c").send().status, 409);
    assert_eq!(drive.transfer("MOVE", "none", "d").send().status, 404);
    for (method, from, to) in [
        ("COPY", "a", "a/b"),
        ("MOVE", "a", "a/b"),
        ("MOVE", "a", "a/"),
        ("COPY", "a/f", "a/%66"),
        ("COPY", "a/f", "a"),
    ] {
        assert_eq!(drive.transfer(method, from, to).send().status, 403, "{method} {from} to {to}");
    }
    for (destination, status) in [
        ("/dav/", 403),
        ("/dav/../x", 403),
        ("/davros/x", 502),
        ("http://other.example/dav/x", 502),
        ("x", 400),
    ] {
        let reply = drive.request("MOVE", "a").header("destination", destination).send();
        assert_eq!(reply.status, status, "{destination}");
    }
    assert_eq!(drive.names(""), ["a/", "c/"]);
    assert_eq!(drive.names("a"), ["f"]);
}

#[test]
fn g05_a_copy_of_depth_0_is_the_folder_alone() {
    let drive = Dav::new();
    assert_eq!((drive.mkcol("a").status, drive.mkcol("a/b").status), (201, 201));
    assert_eq!(drive.put("a/b/f", "x").status, 201);
    let reply = drive.transfer("COPY", "a", "c").header("depth", "0").send();
    assert_eq!((reply.status, reply.cost()), (201, (2, 0)));
    assert_eq!(drive.names("c"), Vec::<String>::new());
    assert_eq!(drive.transfer("COPY", "a/b/f", "g").header("depth", "0").send().status, 201);
    assert_eq!(drive.get("g").body, b"x");
    assert_eq!(drive.transfer("COPY", "a", "d").header("depth", "1").send().status, 400);
    assert_eq!(drive.transfer("MOVE", "a", "d").header("depth", "0").send().status, 400);
    assert_eq!(drive.names("a/b"), ["f"]);
}

#[test]
fn a_listing_is_complete_and_costs_a_round_trip_a_page() {
    let drive = Dav::new();
    assert_eq!(drive.mkcol("a").status, 201);
    // Copies, doubled until there are more than two pages.
    assert_eq!(drive.put("a/f", "x").status, 201);
    let mut names: Vec<String> = vec!["f".to_owned()];
    while names.len() < 2100 {
        let more: Vec<String> =
            names.iter().take(1000).enumerate().map(|(at, _)| format!("{}-{at}", names.len())).collect();
        let copies: Vec<_> = more
            .iter()
            .map(|name| json!({"op": "copy", "path": drive.rest.path("a/f"), "to": {"name": name}}))
            .collect();
        assert_eq!(Drive::batch(&json!(copies)).status, 200);
        names.extend(more);
    }
    names.sort();
    assert_eq!(drive.names("a"), names);
    let alone = drive.request("PROPFIND", "a").header("depth", "0").send();
    assert_eq!((alone.status, alone.cost()), (207, (1, 0)));
    let reply = drive.request("PROPFIND", "a").header("depth", "1").send();
    assert_eq!((reply.status, reply.cost()), (207, (1, 0)), "before the first byte");
    assert_eq!(reply.header("content-length"), "");
}

#[test]
fn a_token_for_a_folder_sees_it_as_the_root() {
    let drive = Dav::new();
    assert_eq!((drive.mkcol("a").status, drive.put("b", "outside").status), (201, 201));
    let entry = drive.rest.list("", "").json()["entries"][0].clone();
    assert_eq!(entry["name"], "a");
    let limits = json!({"name": "for a", "space_id": Drive::space(), "folder_id": entry["id"]});
    let created =
        Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(limits.to_string()));
    assert_eq!(created.status, 201);
    let token = created.json()["token"].as_str().unwrap().to_owned();
    let request = |method: &str, target: &str| Wire::new(method, target).basic("", &token);
    assert_eq!(request("PUT", "/dav/f").body("inside").send().status, 201);
    assert_eq!(request("MKCOL", "/dav/d/").send().status, 201);
    assert_eq!(drive.get("a/f").body, b"inside");
    let listed = request("PROPFIND", "/dav/").header("depth", "1").send().multistatus();
    assert_eq!(listed.hrefs(), ["/dav/", "/dav/d/", "/dav/f"]);
    assert_eq!(request("GET", "/dav/b").send().status, 404);
    assert_eq!(request("GET", "/dav/../b").send().status, 404);
    // The folder goes: nothing is left to see.
    assert_eq!(drive.delete("a").status, 204);
    for (method, target) in [("PROPFIND", "/dav/"), ("GET", "/dav/f"), ("MKCOL", "/dav/e")] {
        assert_eq!(request(method, target).send().status, 404, "{method}");
    }
    assert_eq!(request("PUT", "/dav/g").body("x").send().status, 404);
}

#[test]
fn w032_a_file_that_is_moved_over_another_becomes_its_next_version() {
    let drive = Dav::new();
    assert_eq!(drive.put("db.kdbx", "old").status, 201);
    let id = |path: &str| {
        drive.rest.list("", "").json()["entries"]
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| entry["name"] == path)
            .map(|entry| entry["id"].clone())
    };
    let before = id("db.kdbx");
    assert_eq!(drive.proppatch("db.kdbx", "<set><prop><x xmlns='urn:x'>old</x></prop></set>").status, 207);
    for content in ["new", "newer"] {
        let saved = drive.put("db.kdbx.tmp", content);
        assert_eq!(saved.status, 201);
        let moved = drive.transfer("MOVE", "db.kdbx.tmp", "db.kdbx").header("overwrite", "T").send();
        assert_eq!((moved.status, moved.cost()), (204, (2, 0)));
        let read = drive.get("db.kdbx");
        assert_eq!((read.body.as_slice(), read.header("etag")), (content.as_bytes(), saved.header("etag")));
        assert_eq!(drive.names(""), ["db.kdbx"]);
    }
    assert_eq!(id("db.kdbx"), before);
    let copied = drive.put("other", "copied");
    assert_eq!(copied.status, 201);
    let over = drive.transfer("COPY", "other", "db.kdbx").send();
    assert_eq!((over.status, over.cost()), (204, (2, 0)));
    assert_eq!(drive.get("db.kdbx").header("etag"), copied.header("etag"));
    assert_eq!(drive.get("other").body, b"copied");
    let history = Reply::to(Drive::in_space("GET", &format!("versions{}", drive.rest.path("db.kdbx"))));
    let history = history.json()["versions"].as_array().unwrap().clone();
    let sizes: Vec<_> = history.iter().map(|version| version["size_bytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [6, 5, 3, 3]);
    let oldest = history[3]["id"].as_str().unwrap();
    assert_eq!(drive.rest.get(&format!("db.kdbx?version={oldest}")).body, b"old");
    let trash = Reply::to(Drive::in_space("GET", "trash?limit=1000")).json();
    assert!(trash["entries"].as_array().unwrap().iter().all(|entry| entry["name"] != "db.kdbx.tmp"));
    // The properties are the source's, as with any move.
    let found = drive.properties("db.kdbx", "0", "<x xmlns='urn:x'/>");
    assert_eq!(found.only().status_of("urn:x", "x"), Some(404));
    // A folder still replaces, and is replaced, whole.
    assert_eq!(drive.mkcol("d").status, 201);
    assert_eq!(drive.transfer("MOVE", "d", "other").send().status, 204);
    assert_eq!(drive.names(""), ["db.kdbx", "other/"]);
    assert_eq!(drive.transfer("COPY", "db.kdbx", "other").send().status, 204);
    assert_eq!(drive.names(""), ["db.kdbx", "other"]);
}
