//! Tokens that are limited to a folder: what they move, copy, delete, restore and purge.

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

/// A folder `in` with a token for it, files in it, and others beside it.
struct Scope {
    drive: Drive,
    space: String,
    token: String,
    folder: Value,
    beside: Value,
}

impl Scope {
    fn new() -> Self {
        let drive = Drive::new();
        let folder = drive.make_folder("in").json()["id"].clone();
        assert_eq!(drive.make_folder("in/sub").status, 201);
        assert_eq!(drive.make_folder("beside").status, 201);
        for file in ["in/a", "in/sub/b", "beside/c"] {
            assert_eq!(drive.put(file, file.to_owned()).status, 201);
        }
        let beside = drive.make_folder("beside").json()["id"].clone();
        let url = drive.file_url("");
        let space = url.split_once("/spaces/").unwrap().1.split('/').next().unwrap().to_owned();
        let limits = json!({ "name": "scope", "space_id": space, "folder_id": folder });
        let made =
            Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(limits.to_string()));
        let token = made.json()["token"].as_str().unwrap().to_owned();
        Self { drive, space, token, folder, beside }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Reply {
        let url = Drive::absolute(&format!("/api/v1/spaces/{}/{path}", self.space));
        let request = Drive::anonymous(method, &url).bearer_auth(&self.token);
        Reply::to(if body.is_null() { request } else { request.body(body.to_string()) })
    }

    fn operation(&self, operation: &Value) -> Reply {
        self.send("POST", "nodes/batch", &json!({ "operations": [operation] }))
    }

    fn delete(&self, path: &str) -> Reply {
        Reply::to(Drive::anonymous("DELETE", &self.drive.file_url(path)).bearer_auth(&self.token))
    }

    fn delete_folder(&self, path: &str) -> Reply {
        let url = self.drive.file_url(path).replacen("/files/", "/folders/", 1);
        Reply::to(Drive::anonymous("DELETE", &url).bearer_auth(&self.token))
    }

    fn restore(&self, id: &Value, body: &Value) -> Reply {
        self.send("POST", &format!("trash/{}/restore", id.as_str().unwrap()), body)
    }

    fn purge(&self, id: &Value) -> Reply {
        self.send("DELETE", &format!("trash/{}", id.as_str().unwrap()), &Value::Null)
    }

    /// The names in the token's trash, the newest first. Pages may be short.
    fn trash(&self) -> Vec<String> {
        let (mut names, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.send("GET", &format!("trash?limit=1000{cursor}"), &Value::Null);
            assert_eq!((page.status, page.cost()), (200, (1, 0)));
            let page = page.json();
            let entries = page["entries"].as_array().unwrap();
            names.extend(entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { return names };
            cursor = format!("&cursor={next}");
        }
    }
}

#[test]
fn a_folders_token_changes_what_is_below_its_folder_in_two_round_trips() {
    let scope = Scope::new();
    let path = |path: &str| scope.drive.path(path);
    for operation in [
        json!({ "op": "move", "path": path("in/a"), "to": { "name": "moved" } }),
        json!({ "op": "move", "path": path("in/moved"), "to": { "parent": path("in/sub") } }),
        json!({ "op": "copy", "path": path("in/sub"), "to": { "parent": scope.folder, "name": "copy" } }),
        json!({ "op": "copy", "path": path("in/sub/b"), "to": { "parent": path("in") } }),
        json!({ "op": "move", "path": path("in/b"), "to": { "parent": path("in/copy") }, "conflict": "replace" }),
        json!({ "op": "delete", "path": path("in/copy") }),
    ] {
        let reply = scope.operation(&operation);
        assert_eq!((reply.status, reply.round_trips()), (200, 2), "{operation}");
    }
    let deleted = scope.delete("in/sub/b");
    assert_eq!((deleted.status, deleted.round_trips()), (204, 2));
    let deleted = scope.delete_folder("in/sub");
    assert_eq!((deleted.status, deleted.round_trips()), (204, 2));
    assert_eq!(scope.trash(), ["sub", "b", "copy", "b"]);
    assert_eq!(scope.drive.names("in"), Vec::<String>::new());
}

#[test]
fn what_is_outside_of_a_tokens_folder_is_as_if_it_were_not_there() {
    let scope = Scope::new();
    let path = |path: &str| scope.drive.path(path);
    let unknown = "018f0000-0000-7000-8000-000000000000";
    let file = Reply::to(scope.drive.request("PUT", "beside/d").body("d")).json()["id"].clone();
    let missing = scope.operation(&json!({ "op": "delete", "path": path("in/none") }));
    missing.expect_problem(404, "not_found");
    for operation in [
        // The node is outside, or is the folder itself.
        json!({ "op": "delete", "path": path("beside/c") }),
        json!({ "op": "delete", "path": path("none") }),
        json!({ "op": "delete", "path": "/" }),
        json!({ "op": "delete", "path": path("in") }),
        json!({ "op": "delete", "id": scope.folder }),
        json!({ "op": "delete", "id": file }),
        json!({ "op": "delete", "id": unknown }),
        json!({ "op": "move", "path": path("in"), "to": { "name": "out" } }),
        json!({ "op": "move", "path": path("in"), "to": { "parent": path("in/sub") } }),
        json!({ "op": "move", "path": path("beside/c"), "to": { "parent": path("in") } }),
        json!({ "op": "copy", "path": path("beside"), "to": { "parent": path("in"), "name": "x" } }),
        json!({ "op": "copy", "path": path("beside/c"), "to": { "parent": path("in"), "name": "x" } }),
        json!({ "op": "copy", "id": file, "to": { "parent": path("in"), "name": "x" } }),
        json!({ "op": "restore", "id": file }),
        // The destination is, whether it is there or not.
        json!({ "op": "move", "path": path("in/a"), "to": { "parent": path("beside") } }),
        json!({ "op": "move", "path": path("in/a"), "to": { "parent": path("none") } }),
        json!({ "op": "move", "path": path("in/a"), "to": { "parent": path("none/none") } }),
        json!({ "op": "move", "path": path("in/a"), "to": { "parent": path("beside/c") } }),
        json!({ "op": "move", "path": path("in/a"), "to": { "parent": scope.beside } }),
        json!({ "op": "move", "path": path("in/a"), "to": { "parent": file } }),
        json!({ "op": "move", "path": path("in/a"), "to": { "parent": unknown } }),
        json!({ "op": "copy", "path": path("in/a"), "to": { "parent": "/" } }),
        json!({ "op": "copy", "path": path("in/a"), "to": { "parent": path(""), "name": "beside" }, "conflict": "replace" }),
        // Copies of the folder itself need a place as well.
        json!({ "op": "copy", "path": path("in"), "to": { "name": "out" } }),
    ] {
        let reply = scope.operation(&operation);
        assert_eq!((reply.status, &reply.body), (404, &missing.body), "{operation}");
    }
    for reply in [scope.delete("beside/c"), scope.delete("none"), scope.delete_folder("in")] {
        reply.expect_problem(404, "not_found");
    }
    // Within it, what is missing is told.
    for (operation, code) in [
        (
            json!({ "op": "move", "path": path("in/a"), "to": { "parent": path("in/none") } }),
            "parent_missing",
        ),
        (
            json!({ "op": "move", "path": path("in/a"), "to": { "parent": path("in/none/none") } }),
            "parent_missing",
        ),
        (
            json!({ "op": "copy", "path": path("in/sub"), "to": { "parent": path("in/a"), "name": "x" } }),
            "not_a_folder",
        ),
        (
            json!({ "op": "copy", "path": path("in"), "to": { "parent": path("in/sub"), "name": "x" } }),
            "into_itself",
        ),
        (json!({ "op": "move", "path": path("in/a"), "to": { "name": "sub" } }), "name_taken"),
    ] {
        scope.operation(&operation).expect_problem(409, code);
    }
    assert_eq!(scope.drive.names(""), ["beside", "in"]);
    assert_eq!(scope.drive.names("in"), ["a", "sub"]);
    assert_eq!(scope.drive.names("beside"), ["c", "d"]);
}

#[test]
fn a_folders_token_has_a_trash_of_its_own() {
    let scope = Scope::new();
    let path = |path: &str| scope.drive.path(path);
    let outside = scope.drive.put("beside/outside", "x").json()["id"].clone();
    assert_eq!(scope.drive.delete("beside/outside").status, 204);
    let a = scope.drive.put("in/x", "x").json()["id"].clone();
    let b = scope.drive.put("in/sub/y", "y").json()["id"].clone();
    assert_eq!(scope.drive.delete("in/x").status, 204);
    assert_eq!(scope.delete("in/sub/y").status, 204);
    let sub = scope.drive.make_folder("in/sub").json()["id"].clone();
    assert_eq!(scope.delete_folder("in/sub").status, 204);
    // What was in a folder that is in the trash itself is there too.
    assert_eq!(scope.trash(), ["sub", "y", "x"]);

    for reply in [
        scope.restore(&outside, &Value::Null),
        scope.restore(&outside, &json!({ "to": { "parent": path("in") } })),
        scope.restore(&a, &json!({ "to": { "parent": path("") } })),
        scope.restore(&a, &json!({ "to": { "parent": scope.beside } })),
        scope.purge(&outside),
    ] {
        reply.expect_problem(404, "not_found");
    }
    let gone = scope.restore(&b, &Value::Null);
    gone.expect_problem(409, "parent_gone");
    assert!(gone.json()["detail"].as_str().unwrap().contains("sub"));
    let restored = scope.restore(&b, &json!({ "to": { "parent": path("in") } }));
    assert_eq!((restored.status, restored.round_trips()), (200, 2));
    let restored = scope.restore(&a, &Value::Null);
    assert_eq!((restored.status, restored.round_trips()), (200, 2));
    assert_eq!(scope.drive.names("in"), ["a", "x", "y"]);

    let purged = scope.purge(&sub);
    assert_eq!((purged.status, purged.round_trips()), (204, 2));
    assert_eq!(scope.delete("in/a").status, 204);
    assert_eq!(scope.trash(), ["a"]);
    let emptied = scope.send("DELETE", "trash", &Value::Null);
    assert_eq!((emptied.status, emptied.round_trips()), (204, 2));
    assert_eq!(scope.trash(), Vec::<String>::new());
    // The others' is still there.
    let id = outside.as_str().unwrap();
    assert_eq!(Reply::to(Drive::in_space("POST", &format!("trash/{id}/restore"))).status, 200);
}

#[test]
fn the_token_of_a_folder_that_is_in_the_trash_reaches_nothing() {
    let scope = Scope::new();
    assert_eq!(scope.delete("in/a").status, 204);
    assert_eq!(scope.drive.delete_folder("in").status, 204);
    for (method, url, body) in [
        ("GET", "trash", Value::Null),
        ("DELETE", "trash", Value::Null),
        ("POST", "nodes/batch", json!({ "operations": [{ "op": "restore", "id": scope.folder }] })),
    ] {
        scope.send(method, url, &body).expect_problem(404, "not_found");
    }
    let id = scope.folder.as_str().unwrap();
    assert_eq!(Reply::to(Drive::in_space("POST", &format!("trash/{id}/restore"))).status, 200);
    assert_eq!(scope.trash(), ["a"]);
}
