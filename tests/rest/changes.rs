//! The feed of changes.

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

fn changes(query: &str) -> Reply {
    Reply::to(Drive::in_space("GET", &format!("changes{query}")))
}

/// Where the feed ends now.
fn end() -> String {
    let reply = changes("");
    assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
    let page = reply.json();
    assert_eq!((&page["changes"], &page["more"]), (&json!([]), &json!(false)));
    page["cursor"].as_str().unwrap().to_owned()
}

/// All that changed since, page by page.
fn since(cursor: &str, limit: u32) -> Vec<Value> {
    pages(cursor, limit, &changes).0
}

/// All that changed since as `ask` tells it, and where to go on.
fn pages(cursor: &str, limit: u32, ask: &dyn Fn(&str) -> Reply) -> (Vec<Value>, String) {
    let (mut found, mut cursor) = (Vec::new(), cursor.to_owned());
    loop {
        let reply = ask(&format!("?since={cursor}&limit={limit}"));
        assert_eq!((reply.status, reply.cost()), (200, (1, 0)), "{}", String::from_utf8_lossy(&reply.body));
        let page = reply.json();
        let rows = page["changes"].as_array().unwrap();
        assert!(rows.len() <= limit as usize);
        found.extend(rows.iter().cloned());
        cursor = page["cursor"].as_str().unwrap().to_owned();
        if page["more"] == false {
            return (found, cursor);
        }
    }
}

/// Those of them that are about one of the nodes: tests run side by side in one space.
fn about(changes: &[Value], ids: &[&Value]) -> Vec<Value> {
    changes.iter().filter(|change| ids.contains(&&change["id"])).cloned().collect()
}

fn operation(drive: &Drive, op: &str, path: &str, to: Option<(&str, &str)>) -> Value {
    let mut operation = json!({"op": op, "path": drive.path(path)});
    if let Some((parent, name)) = to {
        operation["to"] = json!({"parent": drive.path(parent), "name": name});
    }
    operation
}

fn batch(operations: &Value) -> Vec<Value> {
    let reply = Drive::batch(operations);
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    reply.json()["results"].as_array().unwrap().clone()
}

#[test]
fn every_kind_of_change_is_told_in_order() {
    let drive = Drive::new();
    let cursor = end();
    let folder = drive.make_folder("a/b?parents=true").json()["id"].clone();
    let above = drive.list("a", "").json()["folder"]["id"].clone();
    let file = drive.put("a/b/x", "1").json()["id"].clone();
    assert_eq!(drive.put("a/b/x", "22").status, 204);
    let copy = batch(&json!([operation(&drive, "copy", "a", Some(("", "c")))]))[0]["id"].clone();
    batch(&json!([operation(&drive, "move", "a/b/x", Some(("a", "y")))]));
    assert_eq!(drive.delete_folder("a").status, 204);
    let restore = format!("trash/{}/restore", above.as_str().unwrap());
    assert_eq!(Reply::to(Drive::in_space("POST", &restore)).status, 200);
    assert_eq!(drive.delete("a/y").status, 204);
    let purge = format!("trash/{}", file.as_str().unwrap());
    assert_eq!(Reply::to(Drive::in_space("DELETE", &purge)).status, 204);

    for limit in [1, 2, 1000] {
        let told = about(&since(&cursor, limit), &[&folder, &above, &file, &copy]);
        let short: Vec<_> = told
            .iter()
            .map(|row| (row["change"].as_str().unwrap(), &row["id"], &row["subtree"], &row["from_parent_id"]))
            .collect();
        let (yes, no, none) = (&json!(true), &json!(false), &Value::Null);
        assert_eq!(
            short,
            [
                ("created", &above, no, none),
                ("created", &folder, no, none),
                ("created", &file, no, none),
                ("updated", &file, no, none),
                ("created", &copy, yes, none),
                ("moved", &file, no, &folder),
                ("deleted", &above, yes, &drive.list("", "").json()["folder"]["id"]),
                ("restored", &above, yes, none),
                ("deleted", &file, no, &above),
                ("purged", &file, no, none),
            ],
            "{limit} a page"
        );
        assert!(told.windows(2).all(|two| two[0]["seq"].as_u64() <= two[1]["seq"].as_u64()));
        assert_eq!(told[0]["seq"], told[1]["seq"], "made by one commit");
        // As it is now: the file is gone, the folder that was deleted is back.
        for row in &told {
            assert_eq!(row["node"].is_null(), row["id"] == file, "{row}");
            assert_eq!(row["kind"], if row["id"] == file { "file" } else { "folder" });
        }
    }
}

#[test]
fn a_node_is_shown_as_it_is_now() {
    let drive = Drive::new();
    let cursor = end();
    let file = drive.put("x.txt", "1").json();
    let saved = drive.put("x.txt", "22");
    let told = about(&since(&cursor, 100), &[&file["id"]]);
    assert_eq!(told.len(), 2);
    assert_eq!(told[0]["node"], told[1]["node"]);
    let node = &told[1]["node"];
    let listed = &drive.list("", "").json()["entries"][0];
    for member in listed.as_object().unwrap().keys() {
        assert_eq!(node[member], listed[member], "{member}");
    }
    assert_eq!((&node["etag"], &node["size_bytes"]), (&json!(saved.header("etag")), &json!(2)));
    assert_eq!(node["parent_id"], drive.list("", "").json()["folder"]["id"]);
    assert!(told[1]["at"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn of_a_thousand_deleted_nodes_each_is_told_on_whatever_page() {
    let drive = Drive::new();
    for n in 0..25 {
        assert_eq!(drive.put(&format!("f{n}"), "").status, 201);
    }
    let cursor = end();
    let operations: Vec<_> = (0..25).map(|n| operation(&drive, "delete", &format!("f{n}"), None)).collect();
    let ids: Vec<Value> = batch(&json!(operations)).iter().map(|result| result["id"].clone()).collect();
    for limit in [1, 7, 25, 26] {
        let told = about(&since(&cursor, limit), &ids.iter().collect::<Vec<_>>());
        let told: Vec<_> = told.iter().map(|row| row["id"].clone()).collect();
        assert_eq!(told, ids, "{limit} a page");
    }
}

#[test]
fn whoever_waits_is_told_as_soon_as_something_changes() {
    let drive = Drive::new();
    let cursor = end();
    let told = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| changes(&format!("?since={cursor}&wait=25")));
        let saved = drive.put("x", "x");
        assert_eq!(saved.status, 201);
        waiting.join().unwrap()
    });
    assert_eq!(told.status, 200);
    assert_ne!(told.json()["changes"], json!([]));
}

#[test]
fn a_feed_refuses_what_it_does_not_know() {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    for (query, field) in [
        ("?since=nonsense".to_owned(), "since"),
        ("?since=".to_owned(), "since"),
        (format!("?since={}", URL_SAFE_NO_PAD.encode("[\"changes\",987654321,0,null]")), "since"),
        (format!("?since={}", URL_SAFE_NO_PAD.encode("[\"trash\",1,\"x\"]")), "since"),
        ("?limit=0".to_owned(), "limit"),
        ("?limit=1001".to_owned(), "limit"),
        ("?wait=26".to_owned(), "wait"),
        ("?wait=-1".to_owned(), "wait"),
        ("?after=1".to_owned(), "query"),
    ] {
        let reply = changes(&query);
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{query}");
    }
    // A feed that ends earlier is another one: the database was restored.
    let cursor = String::from_utf8(URL_SAFE_NO_PAD.decode(end()).unwrap()).unwrap();
    let mut cursor: Value = serde_json::from_str(&cursor).unwrap();
    cursor[2] = json!(1_u64 << 50);
    let later = URL_SAFE_NO_PAD.encode(cursor.to_string());
    changes(&format!("?since={later}")).expect_problem(410, "resync");
    let unknown = Drive::absolute("/api/v1/spaces/01a22c00-0000-7000-8000-000000000000/changes");
    Reply::to(Drive::signed("GET", &unknown)).expect_problem(404, "not_found");
    Reply::to(Drive::anonymous("GET", &unknown)).expect_problem(401, "unauthenticated");
}

/// A token that is limited to a folder in the folder.
fn limited(drive: &Drive, path: &str) -> String {
    let folder = drive.list(path, "").json()["folder"]["id"].clone();
    let space = std::env::var("LEDGE_TEST_SPACE").unwrap();
    let body = json!({"name": "limited", "space_id": space, "folder_id": folder, "rights": "read"});
    let reply = Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(body.to_string()));
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.body));
    reply.json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_token_for_a_folder_follows_what_is_in_it_and_learns_no_name_from_elsewhere() {
    let drive = Drive::new();
    for folder in ["in", "in/sub", "out", "out/hidden"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    let token = limited(&drive, "in");
    let space = std::env::var("LEDGE_TEST_SPACE").unwrap();
    let url = Drive::absolute(&format!("/api/v1/spaces/{space}/changes"));
    let ask = |query: &str| {
        let reply = Reply::to(Drive::anonymous("GET", &format!("{url}{query}")).bearer_auth(&token));
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        reply
    };
    let cursor = ask("").json()["cursor"].as_str().unwrap().to_owned();
    let folder = |path: &str| drive.list(path, "").json()["folder"]["id"].clone();
    let (top, sub) = (folder("in"), folder("in/sub"));

    let stays = drive.put("in/sub/stays", "1").json()["id"].clone();
    let leaves = drive.put("in/sub/leaves", "2").json()["id"].clone();
    let comes = drive.put("out/hidden/comes-secret", "3").json()["id"].clone();
    assert_eq!(drive.put("out/hidden/never-secret", "4").status, 201);
    batch(&json!([operation(&drive, "move", "in/sub/leaves", Some(("out", "left-secret")))]));
    batch(&json!([operation(&drive, "move", "out/hidden/comes-secret", Some(("in", "came")))]));
    assert_eq!(drive.put("out/hidden/comes-secret", "5").status, 201);
    assert_eq!(drive.put("out/left-secret", "6").status, 204);
    batch(&json!([operation(&drive, "move", "in", Some(("", "in-renamed")))]));

    let (rows, cursor) = pages(&cursor, 1000, &ask);
    let text = Value::from(rows.clone()).to_string();
    assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
    let told: Vec<_> = rows
        .iter()
        .map(|row| (&row["id"], row["change"].as_str().unwrap(), row["node"]["name"].as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (&stays, "created", Some("stays")),
            // What it was called before, it isn't called now.
            (&comes, "created", Some("came")),
            // It came to be in the folder, and isn't there any more.
            (&leaves, "moved", None),
            (&comes, "moved", Some("came")),
            (&top, "moved", Some("in-renamed")),
        ]
    );
    let row = |id: &Value, at: usize| -> Value {
        rows.iter().filter(|row| row["id"] == *id).nth(at).unwrap().clone()
    };
    assert_eq!(row(&leaves, 0)["from_parent_id"], sub);
    assert_eq!(row(&comes, 1)["from_parent_id"], Value::Null, "a folder elsewhere");
    assert_eq!(row(&top, 0)["node"]["parent_id"], Value::Null, "what is above the folder isn't known");
    assert_eq!(row(&comes, 1)["node"]["parent_id"], top);

    // A folder that leaves takes what is in it along.
    batch(&json!([operation(&drive, "move", "in-renamed/sub", Some(("out", "sub-secret")))]));
    assert_eq!(drive.put("out/sub-secret/stays", "7").status, 204);
    let (rows, _) = pages(&cursor, 1000, &ask);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["id"], &rows[0]["subtree"], &rows[0]["node"]), (&sub, &json!(true), &Value::Null));
}
