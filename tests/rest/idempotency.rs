//! `Idempotency-Key`.

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

/// A key of this run: a host may keep its data.
fn key(name: &str) -> String {
    let moment = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    format!("\"{name}-{}-{moment}\"", std::process::id())
}

fn post(path: &str, key: &str, body: &Value) -> Reply {
    Reply::to(Drive::in_space("POST", path).header("idempotency-key", key).body(body.to_string()))
}

fn copy(drive: &Drive, name: &str) -> Value {
    json!({"operations": [
        {"op": "copy", "path": drive.path(name), "to": {"name": name}, "conflict": "rename"},
    ]})
}

#[test]
fn the_same_request_is_done_once_and_answered_twice_in_one_round_trip() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "content").status, 201);
    let key = key("batch");
    let first = post("nodes/batch", &key, &copy(&drive, "a"));
    assert_eq!((first.status, first.cost().0, first.header("idempotency-replayed")), (200, 3, ""));
    let second = post("nodes/batch", &key, &copy(&drive, "a"));
    assert_eq!((second.status, second.cost().0), (200, 1));
    assert_eq!(
        (second.header("idempotency-replayed"), second.header("content-type")),
        ("true", "application/json")
    );
    assert_eq!(first.body, second.body);
    assert_eq!(drive.names(""), ["a", "a (2)"]);
    // The quotes don't count.
    assert_eq!(post("nodes/batch", key.trim_matches('"'), &copy(&drive, "a")).body, first.body);
}

#[test]
fn a_key_is_for_one_request() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "content").status, 201);
    assert_eq!(drive.put("b", "content").status, 201);
    let key = key("reused");
    assert_eq!(post("nodes/batch", &key, &copy(&drive, "a")).status, 200);
    post("nodes/batch", &key, &copy(&drive, "b")).expect_problem(422, "idempotency_key_reused");
    assert_eq!(drive.names(""), ["a", "a (2)", "b"]);
}

#[test]
fn a_request_that_failed_may_be_sent_again() {
    let drive = Drive::new();
    let key = key("failed");
    post("nodes/batch", &key, &copy(&drive, "a")).expect_problem(404, "not_found");
    assert_eq!(drive.put("a", "content").status, 201);
    assert_eq!(post("nodes/batch", &key, &copy(&drive, "a")).status, 200);
}

#[test]
fn a_restored_version_is_made_once_with_all_headers() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "old").status, 201);
    assert_eq!(drive.put("a", "new").status, 204);
    let path = format!("versions{}", drive.path("a"));
    let versions = || Reply::to(Drive::in_space("GET", &path)).json()["versions"].as_array().unwrap().clone();
    let key = key("version");
    let body = json!({"restore": versions()[1]["id"]});
    let (first, second) = (post(&path, &key, &body), post(&path, &key, &body));
    assert_eq!((first.status, second.status), (201, 201));
    for header in ["etag", "last-modified", "location"] {
        assert!(!first.header(header).is_empty(), "{header}");
        assert_eq!(first.header(header), second.header(header));
    }
    assert_eq!(versions().len(), 3);
}

#[test]
fn a_node_is_restored_once() {
    let drive = Drive::new();
    let id = drive.put("a", "content").json()["id"].as_str().unwrap().to_owned();
    assert_eq!(drive.delete("a").status, 204);
    let (path, key) = (format!("trash/{id}/restore"), key("restore"));
    let first = post(&path, &key, &json!({}));
    let second = post(&path, &key, &json!({}));
    assert_eq!((first.status, second.status, &first.body), (200, 200, &second.body));
}

#[test]
fn a_tokens_secret_is_shown_once() {
    let key = key("token");
    let make = || {
        let request = Drive::signed("POST", &Drive::absolute("/api/v1/tokens"));
        Reply::to(request.header("idempotency-key", &key).body(r#"{"name": "made once"}"#))
    };
    assert_eq!(make().status, 201);
    make().expect_problem(409, "secret_shown_once");
}

#[test]
fn a_key_that_is_none_is_400_and_who_asks_comes_first() {
    for key in ["", "\"\"", "a b", &"k".repeat(256)] {
        let reply = post("nodes/batch", key, &json!({"operations": []}));
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], "Idempotency-Key");
    }
    let url = Drive::absolute("/api/v1/tokens");
    let anonymous = Drive::anonymous("POST", &url).header("idempotency-key", "a b");
    Reply::to(anonymous).expect_problem(401, "unauthenticated");
}

#[test]
fn of_eight_at_once_one_is_done() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "content").status, 201);
    let key = key("at-once");
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let send = || post("nodes/batch", &key, &copy(&drive, "a"));
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for reply in &replies {
        assert_eq!((reply.status, &reply.body), (200, &replies[0].body));
    }
    assert_eq!(drive.names(""), ["a", "a (2)"]);
}
