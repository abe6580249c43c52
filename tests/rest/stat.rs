//! A node by its id or its path.

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

fn by_id(id: &Value) -> Reply {
    Reply::to(Drive::in_space("GET", &format!("nodes/{}", id.as_str().unwrap())))
}

fn by_path(drive: &Drive, path: &str) -> Reply {
    Reply::to(Drive::in_space("GET", &format!("nodes/by-path{}", drive.path(path))))
}

#[test]
fn a_node_is_the_same_by_id_and_by_path_and_in_a_listing() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("a/b?parents=true").status, 201);
    assert_eq!(drive.put("a/b/caf%C3%A9.txt", "12345").status, 201);
    let listed = drive.list("a/b", "").json()["entries"][0].clone();
    let found = by_id(&listed["id"]);
    assert_eq!((found.status, found.cost()), (200, (1, 0)));
    let at = by_path(&drive, "a/b/caf%C3%A9.txt");
    assert_eq!((at.status, at.cost()), (200, (1, 0)));
    assert_eq!(found.json(), at.json());
    let node = found.json();
    for member in listed.as_object().unwrap().keys() {
        assert_eq!(node[member], listed[member], "{member}");
    }
    let top = drive.path("").trim_matches('/').to_owned();
    assert_eq!(node["path"], json!([top, "a", "b", "café.txt"]));
    assert_eq!(node["parent_id"], drive.list("a/b", "").json()["folder"]["id"]);

    let folder = by_path(&drive, "a/b/").json();
    assert_eq!((&folder["kind"], &folder["path"]), (&json!("folder"), &json!([top, "a", "b"])));
    assert_eq!(folder["id"], node["parent_id"]);
    assert_eq!(folder["etag"], drive.list("a/b", "").header("etag"));
    for member in ["size_bytes", "media_type", "version_id"] {
        assert_eq!(folder[member], Value::Null, "{member}");
    }
    let head = Reply::to(Drive::in_space("HEAD", &format!("nodes/{}", node["id"].as_str().unwrap())));
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn the_top_folder_has_no_name_no_parent_and_no_path() {
    let root = Reply::to(Drive::in_space("GET", "nodes/by-path/")).json();
    assert_eq!((&root["name"], &root["parent_id"], &root["path"]), (&json!(""), &Value::Null, &json!([])));
    assert_eq!(by_id(&root["id"]).json()["kind"], "folder");
}

#[test]
fn an_id_leads_to_where_the_node_has_moved_and_to_nothing_in_the_trash() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("a/b?parents=true").status, 201);
    let file = drive.put("a/b/x", "1").json()["id"].clone();
    let moved = Drive::batch(&json!([
        {"op": "move", "path": drive.path("a/b"), "to": {"parent": drive.path(""), "name": "c"}}
    ]));
    assert_eq!(moved.status, 200);
    let path = by_id(&file).json()["path"].clone();
    assert_eq!(path.as_array().unwrap()[1..], [json!("c"), json!("x")]);
    assert_eq!(drive.delete_folder("c").status, 204);
    by_id(&file).expect_problem(404, "not_found");
    by_path(&drive, "c/x").expect_problem(404, "not_found");
    by_path(&drive, "c").expect_problem(404, "not_found");
    for id in ["x", "01a22c00-0000-7000-8000-000000000000"] {
        by_id(&json!(id)).expect_problem(404, "not_found");
    }
    let reply = Reply::to(Drive::in_space("GET", "nodes/01a22c00-0000-7000-8000-000000000000?x=1"));
    reply.expect_problem(400, "invalid");
}

#[test]
fn a_token_for_a_folder_finds_what_is_in_it_and_nothing_else() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("in/sub?parents=true").status, 201);
    let top = drive.list("in", "").json()["folder"]["id"].clone();
    let inside = drive.put("in/sub/x", "1").json()["id"].clone();
    let outside = drive.put("y", "2").json()["id"].clone();
    let body = json!({"name": "limited", "space_id": Drive::space(), "folder_id": top, "rights": "read"});
    let made = Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(body.to_string()));
    let token = made.json()["token"].as_str().unwrap().to_owned();
    let get = |path: &str| {
        let url = Drive::absolute(&format!("/api/v1/spaces/{}/nodes/{path}", Drive::space()));
        Reply::to(Drive::anonymous("GET", &url).bearer_auth(&token))
    };
    let found = get(inside.as_str().unwrap());
    assert_eq!((found.status, found.cost()), (200, (1, 0)));
    assert_eq!(get(&format!("by-path{}", drive.path("in/sub/x"))).json(), found.json());
    let found = get(top.as_str().unwrap()).json();
    assert_eq!((&found["name"], &found["parent_id"]), (&json!("in"), &Value::Null));
    let above = drive.list("", "").json()["folder"]["id"].clone();
    for id in [&outside, &above] {
        get(id.as_str().unwrap()).expect_problem(404, "not_found");
    }
    for path in ["y", ""] {
        get(&format!("by-path{}", drive.path(path))).expect_problem(404, "not_found");
    }
}
