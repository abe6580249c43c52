//! Spaces: read, listed, changed, and what they keep.
//!
//! The tests share a space with others: they change its limits to such that no other test meets them, and put them back.

use std::sync::{Mutex, PoisonError};

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

/// One at a time: they change the same space.
static SPACE: Mutex<()> = Mutex::new(());

fn space() -> String {
    let url = Drive::new().file_url("");
    url.split_once("/spaces/").unwrap().1.split('/').next().unwrap().to_owned()
}

fn url(space: &str) -> String {
    Drive::absolute(&format!("/api/v1/spaces/{space}"))
}

fn get(space: &str) -> Value {
    let reply = Reply::to(Drive::signed("GET", &url(space)));
    assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
    reply.json()
}

fn patch(space: &str, change: &Value) -> Reply {
    Reply::to(Drive::signed("PATCH", &url(space)).body(change.to_string()))
}

#[test]
fn a_space_says_who_one_is_how_much_it_holds_and_what_it_keeps() {
    let drive = Drive::new();
    let id = space();
    let before = get(&id);
    assert_eq!((&before["id"], &before["role"]), (&json!(id), &json!("owner")));
    for member in [
        "name",
        "created_at",
        "quota_bytes",
        "versions_kept",
        "versions_days",
        "trash_days",
        "append_window_secs",
    ] {
        assert!(before.get(member).is_some(), "{member}");
    }
    assert_eq!(drive.put("a", "x".repeat(5000)).status, 201);
    let used = |space: &Value| space["used_bytes"].as_u64().unwrap();
    assert!(used(&get(&id)) > 0);

    let reply = Reply::to(Drive::signed("GET", &Drive::absolute("/api/v1/spaces")));
    assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
    let listed = reply.json()["spaces"].as_array().unwrap().clone();
    let ours = listed.iter().find(|space| space["id"] == id.as_str()).unwrap();
    assert_eq!((&ours["role"], &ours["created_at"]), (&before["role"], &before["created_at"]));
    assert_eq!(Reply::to(Drive::signed("HEAD", &url(&id))).status, 200);
}

#[test]
fn g10_what_a_change_does_not_name_stays_as_it_is() {
    let _alone = SPACE.lock().unwrap_or_else(PoisonError::into_inner);
    let id = space();
    let before = get(&id);
    let limits = |space: &Value| {
        ["name", "quota_bytes", "versions_kept", "versions_days", "trash_days", "append_window_secs"]
            .map(|member| space[member].clone())
            .to_vec()
    };
    let reply = patch(&id, &json!({ "versions_days": 36_500 }));
    assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
    assert_eq!(reply.json()["versions_days"], 36_500);
    let reply = patch(&id, &json!({ "versions_kept": 10_000, "name": "Fotos und mehr" }));
    let expected = [json!("Fotos und mehr"), before["quota_bytes"].clone(), json!(10_000), json!(36_500)];
    assert_eq!(limits(&reply.json())[..4], expected);
    assert_eq!(reply.json()["trash_days"], before["trash_days"]);
    // Null takes a limit away, and only that.
    let reply = patch(&id, &json!({ "versions_days": null }));
    assert_eq!((reply.status, &reply.json()["versions_days"]), (200, &Value::Null));
    assert_eq!(
        (&reply.json()["versions_kept"], &reply.json()["name"]),
        (&json!(10_000), &json!("Fotos und mehr"))
    );
    let unchanged = patch(&id, &json!({}));
    assert_eq!(limits(&unchanged.json()), limits(&reply.json()));
    let back = ["name", "versions_kept", "versions_days", "trash_days", "append_window_secs"]
        .map(|m| (m.to_owned(), before[m].clone()));
    assert_eq!(patch(&id, &Value::Object(back.into_iter().collect())).status, 200);
    assert_eq!(limits(&get(&id)), limits(&before));
}

#[test]
fn what_a_space_can_not_be_is_refused_by_name() {
    let id = space();
    let before = get(&id);
    for (change, field) in [
        (json!({ "versions_kept": 0 }), "versions_kept"),
        (json!({ "versions_kept": 10_001 }), "versions_kept"),
        (json!({ "versions_kept": -1 }), "versions_kept"),
        (json!({ "versions_days": 36_501 }), "versions_days"),
        (json!({ "versions_days": 1.5 }), "versions_days"),
        (json!({ "trash_days": "30" }), "trash_days"),
        (json!({ "trash_days": 0 }), "trash_days"),
        (json!({ "name": "" }), "name"),
        (json!({ "name": null }), "name"),
        (json!({ "name": "a\u{7}" }), "name"),
        (json!({ "name": "x".repeat(256) }), "name"),
        (json!({ "quota_bytes": 5 }), "body"),
        (json!({ "trash_days": 31, "policy": {} }), "body"),
        (json!([]), "body"),
    ] {
        let reply = patch(&id, &change);
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{change}");
    }
    assert_eq!(get(&id)["trash_days"], before["trash_days"]);
    let unknown = "018f0000-0000-7000-8000-000000000000";
    for space in [unknown, "nonsense"] {
        Reply::to(Drive::signed("GET", &url(space))).expect_problem(404, "not_found");
        patch(space, &json!({})).expect_problem(404, "not_found");
    }
    Reply::to(Drive::signed("PUT", &url(&id))).expect_problem(405, "method_not_allowed");
    Reply::to(Drive::anonymous("GET", &url(&id))).expect_problem(401, "unauthenticated");
}

#[test]
fn tokens_reach_the_spaces_that_they_are_for() {
    let drive = Drive::new();
    let id = space();
    let folder = drive.make_folder("f").json()["id"].clone();
    let token = |limits: Value| {
        let reply =
            Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(limits.to_string()));
        reply.json()["token"].as_str().unwrap().to_owned()
    };
    let send = |token: &str, method: &str, url: &str| {
        Reply::to(Drive::anonymous(method, url).bearer_auth(token).body(if method == "PATCH" {
            "{}"
        } else {
            ""
        }))
    };
    let list = Drive::absolute("/api/v1/spaces");
    for (limits, get, patch, listed) in [
        (json!({ "name": "t", "space_id": id }), 200, 200, true),
        (json!({ "name": "t", "rights": "read" }), 200, 403, true),
        (json!({ "name": "t", "space_id": id, "folder_id": folder }), 404, 404, false),
    ] {
        let token = token(limits);
        assert_eq!(send(&token, "GET", &url(&id)).status, get);
        assert_eq!(send(&token, "PATCH", &url(&id)).status, patch);
        let spaces = send(&token, "GET", &list).json()["spaces"].as_array().unwrap().clone();
        assert_eq!(spaces.iter().any(|space| space["id"] == id.as_str()), listed);
    }
    let webdav = token(json!({ "name": "t", "protocols": ["webdav"] }));
    assert_eq!(send(&webdav, "GET", &list).status, 403);
}
