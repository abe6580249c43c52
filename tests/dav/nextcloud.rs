//! Nextcloud's layout: the same tree at another address, and uploads in parts.

use ledge_tests::{Dav, Drive, Reply, Wire, noise};
use sha2::Digest;

/// The name of the token's account, as clients learn it.
fn user() -> String {
    let url = Drive::absolute("/ocs/v2.php/cloud/user?format=json");
    let reply = Reply::to(Drive::signed("GET", &url).header("ocs-apirequest", "true"));
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["ocs"]["data"]["id"].as_str().unwrap().to_owned()
}

/// A request about something in the drive's folder.
fn file(dav: &Dav, method: &str, path: &str) -> Wire {
    Wire::new(method, target(dav, path)).signed()
}

fn target(dav: &Dav, path: &str) -> String {
    format!("/remote.php/dav/files/{}{}", user(), dav.rest.path(path))
}

/// A request about an upload, whose name is unique to the drive.
fn upload(dav: &Dav, method: &str, path: &str) -> Wire {
    Wire::new(method, upload_target(dav, path)).signed()
}

fn upload_target(dav: &Dav, path: &str) -> String {
    let folder = dav.rest.path("");
    format!("/remote.php/dav/uploads/{}/upload{}{path}", user(), folder.trim_matches('/'))
}

/// Joins an upload's parts.
fn finish(dav: &Dav, to: &str) -> Wire {
    upload(dav, "MOVE", "/.file").header("destination", Drive::absolute(&target(dav, to)))
}

#[test]
fn the_server_says_what_it_is_as_clients_ask() {
    let get = |path: &str| Reply::to(Drive::anonymous("GET", &Drive::absolute(path)));
    let status = get("/status.php");
    assert_eq!((status.status, &status.json()["installed"]), (200, &serde_json::Value::Bool(true)));
    let asked = get("/ocs/v1.php/cloud/capabilities?format=json");
    assert_eq!(asked.json()["ocs"]["meta"]["statuscode"], 100);
    assert_eq!(asked.json()["ocs"]["data"]["capabilities"]["dav"]["chunking"], "1.0");
    let xml = get("/ocs/v2.php/cloud/capabilities");
    assert_eq!((xml.header("content-type"), xml.status), ("application/xml; charset=utf-8", 200));
    assert!(xml.text().contains("<chunking>1.0</chunking>"), "{}", xml.text());
    assert_eq!(get("/ocs/v2.php/cloud/user?format=json").status, 401);
    assert_eq!(get("/ocs/v2.php/cloud/none").status, 404);
}

#[test]
fn the_same_tree_stands_below_the_users_files() {
    let dav = Dav::new();
    assert_eq!(file(&dav, "PUT", "a%20b.txt").body("text").send().status, 201);
    assert_eq!(file(&dav, "MKCOL", "folder").send().status, 201);
    assert_eq!(dav.get("a%20b.txt").body, b"text");
    let listed = file(&dav, "PROPFIND", "").header("depth", "1").send().multistatus();
    let hrefs: Vec<String> = listed.hrefs().into_iter().map(str::to_owned).collect();
    assert!(hrefs.contains(&target(&dav, "a%20b.txt")), "{hrefs:?}");
    assert!(hrefs.iter().all(|href| href.starts_with(&target(&dav, ""))), "{hrefs:?}");
    let to = |path: &str| Drive::absolute(&target(&dav, path));
    assert_eq!(file(&dav, "MOVE", "a%20b.txt").header("destination", to("folder/b")).send().status, 201);
    assert_eq!(file(&dav, "COPY", "folder/b").header("destination", to("c")).send().status, 201);
    // To the other address of the same tree.
    assert_eq!(file(&dav, "COPY", "c").header("destination", dav.url("d")).send().status, 201);
    assert_eq!(file(&dav, "GET", "d").send().body, b"text");
    let locked = dav.locked("d");
    let refused = file(&dav, "PUT", "d").body("x").send();
    assert_eq!(refused.status, 423);
    assert!(refused.text().contains(&target(&dav, "d")), "{}", refused.text());
    let tagged = format!("<{}> (<{locked}>)", to("d"));
    assert_eq!(file(&dav, "PUT", "d").header("if", tagged).body("x").send().status, 204);
    assert_eq!(dav.unlock("d", &locked).status, 204);
    assert_eq!(file(&dav, "DELETE", "d").send().status, 204);
    assert!(file(&dav, "OPTIONS", "").send().header("dav").starts_with("1, 2, 3"));
}

#[test]
fn another_user_has_nothing_here() {
    let dav = Dav::new();
    for path in [
        "/remote.php/dav/files/nobody/",
        "/remote.php/dav/uploads/nobody/x",
        "/remote.php/dav/",
        "/remote.php/dav",
    ] {
        let reply = Wire::new("PROPFIND", path).signed().header("depth", "0").send();
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(Wire::new("PROPFIND", path).send().status, 401, "{path}");
    }
    assert_eq!(dav.put("a", "x").status, 201);
    let elsewhere = Drive::absolute("/remote.php/dav/files/nobody/a");
    assert_eq!(file(&dav, "COPY", "a").header("destination", elsewhere).send().status, 502);
}

#[test]
fn w138_parts_in_any_order_become_a_file_and_no_byte_is_copied() {
    let dav = Dav::new();
    let content = noise(1, 12 << 20);
    let total = content.len().to_string();
    let made =
        upload(&dav, "MKCOL", "").header("destination", Drive::absolute(&target(&dav, "big.bin"))).send();
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(upload(&dav, "MKCOL", "/").send().status, 405);
    let parts: Vec<&[u8]> = content.chunks(1_300_000).collect();
    for (n, part) in parts.iter().enumerate().rev() {
        let put = upload(&dav, "PUT", &format!("/{}", n + 1)).header("oc-total-length", &total).body(*part);
        assert_eq!(put.send().status, 201);
    }
    // One of them again.
    assert_eq!(upload(&dav, "PUT", "/2").body(parts[1]).send().status, 204);
    let listed = upload(&dav, "PROPFIND", "").header("depth", "1").send().multistatus();
    let hrefs: Vec<String> = listed.hrefs().into_iter().map(str::to_owned).collect();
    assert_eq!(hrefs.len(), parts.len() + 1);
    assert_eq!(hrefs[10], upload_target(&dav, "/10"), "in the order in which they are joined: {hrefs:?}");
    assert_eq!(dav.get("big.bin").status, 404);
    let moved =
        finish(&dav, "big.bin").header("oc-total-length", &total).header("x-oc-mtime", "1500000000").send();
    assert_eq!(moved.status, 201, "{}", moved.text());
    assert_eq!((moved.stored_bytes(), moved.cost().1), (0, 0));
    assert_eq!(moved.header("x-oc-mtime"), "accepted");
    assert!(!moved.header("oc-fileid").is_empty());
    let read = dav.get("big.bin");
    assert!(read.body == content);
    assert_eq!(moved.header("etag"), read.header("etag"));
    assert_eq!(read.header("last-modified"), "Fri, 14 Jul 2017 02:40:00 GMT");
    // An answer that was lost is had again, and the name is free for another upload.
    let again = finish(&dav, "big.bin").send();
    assert_eq!((again.status, again.header("etag")), (201, read.header("etag")));
    assert_eq!(dav.rest.versions("big.bin").len(), 1);
    assert_eq!(upload(&dav, "PROPFIND", "").header("depth", "0").send().status, 404);
    assert_eq!(upload(&dav, "DELETE", "").send().status, 404);
    assert_eq!(upload(&dav, "MKCOL", "").send().status, 201);
    assert_eq!(upload(&dav, "DELETE", "").send().status, 204);
}

#[test]
fn small_parts_and_none_become_a_file_too() {
    let dav = Dav::new();
    for (parts, whole) in [(&["b", "a"][..], "ab"), (&[], "")] {
        assert_eq!(upload(&dav, "MKCOL", "").send().status, 201);
        for part in parts {
            assert_eq!(upload(&dav, "PUT", &format!("/{part}")).body(*part).send().status, 201);
        }
        assert!(matches!(finish(&dav, "small").send().status, 201 | 204));
        assert_eq!(dav.get("small").text(), whole);
    }
}

#[test]
fn a_part_that_is_removed_is_not_joined() {
    let dav = Dav::new();
    let content = noise(2, 600_000);
    assert_eq!(upload(&dav, "MKCOL", "").send().status, 201);
    for (part, body) in [("/1", &content[..300_000]), ("/2", &b"wrong"[..]), ("/03", &content[300_000..])] {
        assert_eq!(upload(&dav, "PUT", part).body(body).send().status, 201);
    }
    assert_eq!(upload(&dav, "DELETE", "/2").send().status, 204);
    for gone in ["/2", "/3", "/none"] {
        assert_eq!(upload(&dav, "DELETE", gone).send().status, 404, "{gone}");
    }
    assert_eq!(upload(&dav, "DELETE", "/.file").send().status, 405);
    let listed = upload(&dav, "PROPFIND", "").header("depth", "1").send().multistatus();
    assert_eq!(listed.hrefs().len(), 3);
    assert_eq!(finish(&dav, "a").header("oc-total-length", "600000").send().status, 201);
    assert!(dav.get("a").body == content);
    assert_eq!(upload(&dav, "DELETE", "/1").send().status, 404, "it is a file's");
    assert!(dav.get("a").body == content);
}

#[test]
fn a_length_or_a_digest_that_is_wrong_is_noticed() {
    let dav = Dav::new();
    assert_eq!(upload(&dav, "MKCOL", "").send().status, 201);
    let wrong = upload(&dav, "PUT", "/1").header("oc-checksum", "MD5:d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(wrong.body("abc").send().status, 400);
    assert_eq!(upload(&dav, "PROPFIND", "").header("depth", "1").send().multistatus().hrefs().len(), 1);
    let sha256: String = sha2::Sha256::digest("abc").iter().map(|byte| format!("{byte:02x}")).collect();
    let right = upload(&dav, "PUT", "/1").header("oc-checksum", format!("SHA256:{sha256}"));
    assert_eq!(right.body("abc").send().status, 201);
    assert_eq!(finish(&dav, "a").header("oc-total-length", "4").send().status, 400);
    assert_eq!(finish(&dav, "a").header("oc-total-length", "x").send().status, 400);
    assert_eq!(dav.get("a").status, 404);
    assert_eq!(finish(&dav, "a").header("oc-total-length", "3").send().status, 201);
    assert_eq!(dav.get("a").body, b"abc");
}

#[test]
fn conditions_are_on_what_stands_at_the_destination() {
    let dav = Dav::new();
    let old = dav.put("a", "old");
    assert_eq!(upload(&dav, "MKCOL", "").send().status, 201);
    assert_eq!(upload(&dav, "PUT", "/1").body("new").send().status, 201);
    assert_eq!(finish(&dav, "a").header("overwrite", "F").send().status, 412);
    assert_eq!(finish(&dav, "a").header("if-match", "\"x\"").send().status, 412);
    assert_eq!(finish(&dav, "a").header("if-none-match", "*").send().status, 412);
    let tagged = format!("<{}> ([\"x\"])", Drive::absolute(&target(&dav, "a")));
    assert_eq!(finish(&dav, "a").header("if", tagged).send().status, 412);
    let locked = dav.locked("a");
    assert_eq!(finish(&dav, "a").send().status, 423);
    assert_eq!(finish(&dav, "none/a").send().status, 409);
    assert_eq!(dav.get("a").body, b"old");
    let etag = old.header("etag");
    let held =
        finish(&dav, "a").header("if", format!("(<{locked}> [{etag}])")).header("if-match", etag).send();
    assert_eq!(held.status, 204, "{}", held.text());
    assert_eq!(dav.get("a").body, b"new");
    assert_eq!(dav.rest.versions("a").len(), 2);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dav = Dav::new();
    assert_eq!(upload(&dav, "PUT", "/1").body("x").send().status, 404, "no folder was made");
    assert_eq!(finish(&dav, "a").send().status, 404);
    assert_eq!(upload(&dav, "DELETE", "").send().status, 404);
    assert_eq!(upload(&dav, "MKCOL", "").send().status, 201);
    for (method, path) in [
        ("GET", "/1"),
        ("PUT", ""),
        ("PUT", "/.file"),
        ("MOVE", ""),
        ("MOVE", "/1"),
        ("COPY", "/.file"),
        ("LOCK", ""),
    ] {
        assert_eq!(
            upload(&dav, method, path).header("destination", dav.url("a")).send().status,
            405,
            "{method} {path}"
        );
    }
    assert_eq!(upload(&dav, "PUT", "/a/b").body("x").send().status, 404);
    assert_eq!(upload(&dav, "PUT", &format!("/{}", "x".repeat(256))).body("x").send().status, 400);
    assert_eq!(upload(&dav, "MOVE", "/.file").send().status, 400);
    assert_eq!(upload(&dav, "PROPFIND", "").header("depth", "infinity").send().status, 403);
    let listed = Wire::new("PROPFIND", format!("/remote.php/dav/uploads/{}/", user())).signed();
    let hrefs: Vec<String> =
        listed.header("depth", "1").send().multistatus().hrefs().into_iter().map(str::to_owned).collect();
    assert!(hrefs.contains(&upload_target(&dav, "/")), "{hrefs:?}");
    assert_eq!(upload(&dav, "DELETE", "").send().status, 204);
}
