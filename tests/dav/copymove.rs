//! COPY and MOVE.

use ledge_tests::{Dav, Reply};
use serde_json::json;

fn transfer(dav: &Dav, method: &str, from: &str, to: &str, overwrite: &str) -> Reply {
    dav.transfer(method, from, to).header("overwrite", overwrite).send()
}

#[test]
fn w030_w031_overwrite_says_what_happens_to_what_is_there() {
    let dav = Dav::new();
    for method in ["COPY", "MOVE"] {
        assert!([201, 204].contains(&dav.put("a", "new").status));
        assert!([201, 204].contains(&dav.put("b", "old").status));
        let etag = dav.get("b").header("etag").to_owned();
        assert_eq!(transfer(&dav, method, "a", "b", "F").status, 412, "{method}");
        assert_eq!((dav.get("a").body, dav.get("b").body), (b"new".to_vec(), b"old".to_vec()));
        assert_eq!(dav.get("b").header("etag"), etag);
        assert_eq!(transfer(&dav, method, "a", "c", "F").status, 201, "{method}: the name is free");
        assert_eq!(transfer(&dav, method, "c", "b", "T").status, 204, "{method}");
        assert_eq!(dav.get("b").body, b"new");
        assert_eq!(dav.transfer(method, "b", "c").send().status, if method == "COPY" { 204 } else { 201 });
        assert_eq!(dav.delete("c").status, 204);
    }
    assert_eq!(dav.put("d", "x").status, 201);
    assert_eq!(transfer(&dav, "COPY", "d", "e", "maybe").status, 400);
}

#[test]
fn w032_w033_saving_aside_and_moving_over_keeps_the_old_content_as_a_version() {
    let dav = Dav::new();
    assert_eq!(dav.put("db.kdbx", "one").status, 201);
    let id = dav.rest.list("", "").json()["entries"][0]["id"].clone();
    for (n, content) in ["two", "three"].iter().enumerate() {
        let aside = dav.put("db.kdbx.tmp", *content);
        assert_eq!(aside.status, 201);
        assert_eq!(transfer(&dav, "MOVE", "db.kdbx.tmp", "db.kdbx", "T").status, 204);
        let read = dav.get("db.kdbx");
        assert_eq!(read.body, content.as_bytes());
        assert_eq!(read.header("etag"), aside.header("etag"), "the tag is the content's");
        assert_eq!(dav.get("db.kdbx.tmp").status, 404);
        let versions = dav.rest.versions("db.kdbx");
        assert_eq!(versions.len(), n + 2, "{versions:?}");
    }
    let listed = dav.rest.list("", "").json();
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
    assert_eq!(listed["entries"][0]["id"], id, "it is the same file, for whoever knows it by its id");
}

#[test]
fn w035_nothing_goes_into_itself() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/f", "x").status, 201);
    for method in ["COPY", "MOVE"] {
        for to in ["d/sub/", "d/sub", "d/f/x"] {
            let reply = dav.transfer(method, "d/", to).header("depth", "infinity").send();
            assert!([403, 409].contains(&reply.status), "{method} to {to}: {}", reply.status);
        }
        // What is above can't be replaced by what is in it either.
        let reply = transfer(&dav, method, "d/f", "d", "T");
        assert!([403, 409].contains(&reply.status), "{method} over its folder: {}", reply.status);
    }
    assert_eq!(dav.names("d"), ["f"]);
}

#[test]
fn w036_onto_itself_is_refused_in_every_spelling() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("caf%C3%A9", "x").status, 201);
    for (from, to) in
        [("a", "a"), ("a", "%61"), ("d", "d"), ("d", "d/"), ("d/", "d"), ("caf%C3%A9", "cafe%CC%81")]
    {
        for method in ["COPY", "MOVE"] {
            let reply = transfer(&dav, method, from, to, "T");
            let renames = method == "MOVE" && from.starts_with("caf");
            assert!(
                reply.status == 403 || (renames && reply.status == 201),
                "{method} {from} {to}: {}",
                reply.status
            );
        }
    }
    assert_eq!(dav.get("a").body, b"x");
    assert_eq!(dav.names("").len(), 3);
}

#[test]
fn w037_the_root_is_never_a_target_nor_moved() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    for method in ["COPY", "MOVE"] {
        for root in ["/dav/", "/dav"] {
            let onto = dav.request(method, "f").header("destination", root).header("overwrite", "T").send();
            assert_eq!(onto.status, 403, "{method} onto {root}");
        }
    }
    let root =
        ledge_tests::Wire::new("MOVE", "/dav/").signed().header("destination", dav.target("all")).send();
    assert_eq!(root.status, 403);
    assert_eq!(dav.get("f").body, b"x");
}

#[test]
fn w038_w042_a_folder_goes_with_all_that_is_in_it() {
    let dav = Dav::new();
    for folder in ["d", "d/e", "d/empty"] {
        assert_eq!(dav.mkcol(folder).status, 201);
    }
    assert_eq!(dav.put("d/e/f", "deep").status, 201);
    assert_eq!(dav.transfer("COPY", "d/", "copy/").send().status, 201);
    assert_eq!(dav.transfer("MOVE", "d/", "moved/").send().status, 201);
    for there in ["copy", "moved"] {
        assert_eq!(dav.names(there), ["e/", "empty/"]);
        assert_eq!(dav.get(&format!("{there}/e/f")).body, b"deep");
    }
    for gone in ["d", "d/e", "d/e/f"] {
        assert_eq!(dav.get(gone).status, 404, "{gone}");
    }
    assert_eq!(dav.delete("moved/").status, 204);
    assert_eq!(dav.get("moved/e/f").status, 404);
    assert_eq!(dav.mkcol("moved").status, 201);
    assert!(dav.names("moved").is_empty(), "nothing is left of the old one");
}

#[test]
fn w040_w045_a_new_folder_is_renamed_at_once_and_moved_at_no_cost() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("New%20folder/").status, 201);
    assert_eq!(dav.put("New%20folder/large", ledge_tests::noise(40, 100_000)).status, 201);
    let moved = dav.transfer("MOVE", "New%20folder/", "docs/").send();
    assert_eq!(moved.status, 201);
    assert_eq!(moved.cost(), (2, 0));
    assert_eq!(dav.mkcol("Untitled%20Folder").status, 201);
    assert_eq!(dav.transfer("MOVE", "Untitled%20Folder", "docs/inner").send().status, 201);
    assert_eq!(dav.names("docs"), ["inner/", "large"]);
}

#[test]
fn w041_w186_names_with_wildcards_and_other_case_are_other_folders() {
    let dav = Dav::new();
    for folder in ["a_b", "axb", "A_b", "a%25b"] {
        assert_eq!(dav.mkcol(folder).status, 201, "{folder}");
        assert_eq!(dav.put(&format!("{folder}/f"), folder).status, 201);
        let set = format!("<set><prop><mine xmlns=\"urn:x\">{folder}</mine></prop></set>");
        assert_eq!(dav.proppatch(&format!("{folder}/f"), &set).status, 207);
    }
    assert_eq!(dav.transfer("MOVE", "a_b", "z").send().status, 201);
    assert_eq!(dav.delete("a%25b").status, 204);
    for folder in ["axb", "A_b"] {
        let listed = dav.properties(&format!("{folder}/f"), "0", "<mine xmlns=\"urn:x\"/>");
        assert_eq!(listed.only().custom("urn:x", "mine").text, folder);
    }
    assert_eq!(
        dav.properties("z/f", "0", "<mine xmlns=\"urn:x\"/>").only().custom("urn:x", "mine").text,
        "a_b"
    );
}

#[test]
fn w043_w185_a_folder_of_two_thousand_files_is_copied_moved_and_deleted_in_one_go() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/f", "x").status, 201);
    for half in 0..2 {
        dav.rest.copies("d/f", "d", (half * 1000)..(half * 1000 + 1000));
    }
    let copied = dav.transfer("COPY", "d", "e").send();
    assert_eq!((copied.status, copied.cost()), (201, (2, 0)));
    let moved = dav.transfer("MOVE", "e", "g").send();
    assert_eq!((moved.status, moved.cost()), (201, (2, 0)));
    assert_eq!(dav.propfind("g", "1").responses.len(), 2002);
    let deleted = dav.delete("g");
    assert_eq!((deleted.status, deleted.cost()), (204, (2, 0)));
    assert_eq!(dav.names(""), ["d/"]);
}

#[test]
fn g05_a_copy_of_depth_0_is_of_the_folder_alone() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/f", "x").status, 201);
    let set = "<set><prop><mine xmlns=\"urn:x\">kept</mine></prop></set>";
    assert_eq!(dav.proppatch("d", set).status, 207);
    assert_eq!(dav.transfer("COPY", "d/", "e/").header("depth", "0").send().status, 201);
    assert!(dav.names("e").is_empty());
    assert_eq!(
        dav.properties("e", "0", "<mine xmlns=\"urn:x\"/>").only().custom("urn:x", "mine").text,
        "kept"
    );
    assert_eq!(dav.transfer("COPY", "d/", "f/").header("depth", "1").send().status, 400);
    assert_eq!(dav.transfer("MOVE", "d/", "f/").header("depth", "0").send().status, 400);
    assert_eq!(dav.names("d"), ["f"]);
}

#[test]
fn a_source_that_is_not_there_is_404_and_a_missing_folder_409() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    for method in ["COPY", "MOVE"] {
        assert_eq!(dav.transfer(method, "none", "b").send().status, 404, "{method}");
        assert_eq!(dav.transfer(method, "a", "none/b").send().status, 409, "{method}");
    }
    let stranger = json!([{ "op": "move", "path": dav.rest.path("a"), "to": { "name": "c" } }]);
    assert_eq!(ledge_tests::Drive::batch(&stranger).status, 200);
    assert_eq!(dav.get("c").body, b"x", "REST's moves are seen");
}
