//! Tokens that are limited to a folder, and trees that change between what a request reads and what it commits.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use ledge_core::ports::{Statement, Value};
use ledge_engine_tests::{Drive, run, send_while};
use serde_json::json;

/// A drive with `in/sub/a`, `in/gone` in the trash, `out`, and a token for `in`.
async fn before() -> (Drive, String) {
    let drive = Drive::new().await;
    for folder in ["in", "in/sub", "out"] {
        let made = drive.request("PUT", &format!("folders/{folder}"), b"");
        assert_eq!(drive.send(drive.plain(), made).await.status, 201);
    }
    for file in ["in/sub/a", "in/sub/gone"] {
        assert_eq!(drive.put(file, b"x").await.status, 201);
    }
    let delete = drive.request("DELETE", "files/in/sub/gone", b"");
    assert_eq!(drive.send(drive.plain(), delete).await.status, 204);
    let limits = json!({
        "name": "t", "space_id": text(&drive, "select id as it from spaces").await,
        "folder_id": text(&drive, "select id as it from nodes where name = 'in'").await,
    });
    let mut create = drive.request("POST", "", limits.to_string().leak().as_bytes());
    *create.uri_mut() = "/api/v1/tokens".parse().unwrap();
    let made: serde_json::Value =
        serde_json::from_slice(&drive.send(drive.plain(), create).await.body).unwrap();
    (drive, made["token"].as_str().unwrap().to_owned())
}

async fn text(drive: &Drive, sql: &'static str) -> String {
    match drive.column(sql).await.pop() {
        Some(Value::Text(text)) => text,
        other => unreachable!("{sql}: {other:?}"),
    }
}

/// What changes the tree, by id so that it is one statement.
const LEAVES: &str =
    "update nodes set parent_id = (select id from nodes where name = 'out') where name = 'sub'";
const IN_TRASH: &str =
    "update nodes set parent_id = 'trash/' || space_id, trashed_at = 1, trashed_from = parent_id
                         where name = 'in'";

#[test]
fn what_leaves_a_tokens_folder_before_the_commit_is_out_of_its_reach() {
    run(async {
        for happens in [LEAVES, IN_TRASH] {
            for (method, path, body) in [
                ("DELETE", "files/in/sub/a", ""),
                ("DELETE", "folders/in/sub", ""),
                ("DELETE", "trash/{gone}", ""),
                ("POST", "trash/{gone}/restore", ""),
                ("POST", "trash/{gone}/restore", r#"{"to": {"parent": "/in"}}"#),
                (
                    "POST",
                    "nodes/batch",
                    r#"{"operations": [{"op": "move", "path": "/in/sub/a", "to": {"parent": "/in"}}]}"#,
                ),
                (
                    "POST",
                    "nodes/batch",
                    r#"{"operations": [{"op": "copy", "path": "/in/sub/a", "to": {"parent": "/in", "name": "c"}}]}"#,
                ),
            ] {
                let (drive, token) = before().await;
                let gone = text(&drive, "select id as it from nodes where name = 'gone'").await;
                let mut request = drive.request(method, &path.replace("{gone}", &gone), body.as_bytes());
                let with = format!("Bearer {token}").parse().unwrap();
                request.headers_mut().insert("authorization", with);
                let answer = send_while(&drive, Statement::new(happens), request).await;
                // `folders/in/sub` is no more, or stands elsewhere: either is a 404.
                assert_eq!(answer.status, 404, "{method} {path} {body} while {happens}");
                let seq = drive.column("select change_seq as it from spaces").await;
                assert_eq!(seq, [Value::Integer(6)], "nothing was committed");
            }
        }
    });
}

#[test]
fn emptying_a_tokens_trash_leaves_what_has_left_it() {
    run(async {
        let (drive, token) = before().await;
        let mut request = drive.request("DELETE", "trash", b"");
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let answer = send_while(&drive, Statement::new(LEAVES), request).await;
        assert_eq!(answer.status, 204);
        assert_eq!(drive.column("select name as it from nodes where trashed_at is not null").await.len(), 1);
    });
}
