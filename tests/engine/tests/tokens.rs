//! Tokens and the moment: what is true when a request begins may be untrue when it commits. And a second space.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use http::Request;
use ledge_core::ports::{Db, Statement, Value};
use ledge_engine_tests::{Drive, noise, run, send_while};
use serde_json::json;

fn with(token: &str, mut request: Request<&'static [u8]>) -> Request<&'static [u8]> {
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

fn at(uri: &str, mut request: Request<&'static [u8]>) -> Request<&'static [u8]> {
    *request.uri_mut() = uri.parse().unwrap();
    request
}

/// Makes a token; returns its secret and its id.
async fn made(drive: &Drive, body: serde_json::Value) -> (String, String) {
    let request = at("/api/v1/tokens", drive.request("POST", "", body.to_string().leak().as_bytes()));
    let answer = drive.send(drive.plain(), request).await;
    assert_eq!(answer.status, 201, "{body}");
    let token: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    (token["token"].as_str().unwrap().to_owned(), token["id"].as_str().unwrap().to_owned())
}

async fn one(drive: &Drive, sql: &'static str) -> String {
    match drive.column(sql).await.pop() {
        Some(Value::Text(text)) => text,
        other => unreachable!("{sql}: {other:?}"),
    }
}

const SPACE: &str = "select id as it from spaces order by n desc limit 1";
const IN: &str = "select id as it from nodes where name = 'in'";

#[test]
fn what_a_token_may_no_longer_do_is_refused_by_the_commit() {
    run(async {
        let drive = Drive::new().await;
        for folder in ["folders/in", "folders/out"] {
            assert_eq!(drive.send(drive.plain(), drive.request("PUT", folder, b"")).await.status, 201);
        }
        assert_eq!(drive.put("in/f", b"old").await.status, 201);
        assert_eq!(drive.put("in/f", b"content").await.status, 204);
        let (space, folder) = (one(&drive, SPACE).await, one(&drive, IN).await);
        let version = one(&drive, "select id as it from versions order by created_at limit 1").await;
        let restore: &'static [u8] = json!({ "restore": version }).to_string().leak().as_bytes();
        let label: &'static [u8] = b"{\"label\":\"x\"}";
        let by_id = format!("versions/in/f?version={version}");
        assert_eq!(drive.put("in/gone", b"x").await.status, 201);
        let delete = drive.request("DELETE", "files/in/gone", b"");
        assert_eq!(drive.send(drive.plain(), delete).await.status, 204);
        let gone = one(&drive, "select id as it from nodes where name = 'gone'").await;
        let (trashed, back) = (format!("trash/{gone}"), format!("trash/{gone}/restore"));
        let copy = br#"{"operations": [{"op": "copy", "path": "/in/f", "to": {"name": "g"}}]}"#;
        let requests: [(&str, &str, &'static [u8]); 10] = [
            ("PUT", "files/in/f", b"new"),
            ("PUT", "files/in/g", b"new"),
            ("PUT", "folders/in/new", b""),
            ("POST", "versions/in/f", restore),
            ("PATCH", &by_id, label),
            ("DELETE", &by_id, b""),
            ("DELETE", "files/in/f", b""),
            ("POST", "nodes/batch", copy),
            ("POST", &back, b""),
            ("DELETE", &trashed, b""),
        ];
        for (happens, status) in [
            ("delete from tokens where id = ?1", 401),
            ("update tokens set expires_at = 1 where id = ?1", 401),
            ("update tokens set rights = 'read' where id = ?1", 403),
            ("update tokens set space_id = 'another' where id = ?1", 404),
            ("update tokens set folder_id = (select id from nodes where name = 'out') where id = ?1", 404),
            ("update members set role = 'reader' where ?1 = ?1", 403),
        ] {
            for (method, path, body) in requests {
                let (token, id) =
                    made(&drive, json!({ "name": "t", "space_id": space, "folder_id": folder })).await;
                let before = drive.column("select change_seq as it from spaces").await;
                let request = with(&token, drive.request(method, path, body));
                let answer = send_while(&drive, Statement::new(happens).bind(id.as_str()), request).await;
                assert_eq!(answer.status, status, "{method} {path} while {happens}");
                assert_eq!(drive.column("select change_seq as it from spaces").await, before);
                let again = Statement::new("update members set role = 'owner'");
                drive.ports.db.write(vec![again]).await.unwrap();
            }
        }
        assert_eq!(drive.get("in/f").await.body, b"content");
    });
}

#[test]
fn a_folder_that_has_moved_away_takes_its_token_along() {
    run(async {
        let drive = Drive::new().await;
        for folder in ["folders/in", "folders/in/sub", "folders/out"] {
            assert_eq!(drive.send(drive.plain(), drive.request("PUT", folder, b"")).await.status, 201);
        }
        let (space, folder) = (one(&drive, SPACE).await, one(&drive, IN).await);
        let (token, _) = made(&drive, json!({ "name": "t", "space_id": space, "folder_id": folder })).await;
        let put = |path: &str| with(&token, drive.request("PUT", path, b"new"));
        let moves = "update nodes set parent_id = (select id from nodes where name = 'out') where name = ?1";
        // The parent leaves the scope between the read and the commit.
        let leaves = Statement::new(moves).bind("sub");
        let answer = send_while(&drive, leaves, put("files/in/sub/a")).await;
        assert_eq!(answer.status, 409, "its folder is there no more");
        assert_eq!(drive.column("select id as it from versions").await, []);
        assert_eq!(drive.send(drive.plain(), put("files/out/sub/a")).await.status, 404);
        // The folder itself moves: the token goes where it is.
        drive.ports.db.write(vec![Statement::new(moves).bind("in")]).await.unwrap();
        assert_eq!(drive.send(drive.plain(), put("files/in/a")).await.status, 404);
        assert_eq!(drive.send(drive.plain(), put("files/out/in/a")).await.status, 201);
    });
}

#[test]
fn large_uploads_need_the_right_to_write_as_well() {
    run(async {
        let drive = Drive::new().await;
        let large: &'static [u8] = noise(1, 9_000).leak();
        let (token, _) = made(&drive, json!({ "name": "t", "rights": "read" })).await;
        let answer = drive.send(drive.plain(), with(&token, drive.request("PUT", "files/a", large))).await;
        assert_eq!(answer.status, 403);
        assert_eq!(drive.column("select id as it from ingests").await, []);
        assert_eq!(drive.objects().await, Vec::<String>::new());
    });
}

#[test]
fn a_spaces_token_reaches_no_other_space() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("a", b"first").await.status, 201);
        let first = one(&drive, SPACE).await;
        let space = drive.second_space().await;

        let (wide, _) = made(&drive, json!({ "name": "wide" })).await;
        let (second, second_id) = made(&drive, json!({ "name": "second", "space_id": space })).await;
        let (one, one_id) = made(&drive, json!({ "name": "first", "space_id": first })).await;
        let uri = |space: &str| format!("/api/v1/spaces/{space}/files/a");
        for (token, here, there) in [(&wide, 200, 201), (&one, 200, 404), (&second, 404, 204)] {
            let get = with(token, at(&uri(&first), drive.request("GET", "", b"")));
            assert_eq!(drive.send(drive.plain(), get).await.status, here);
            let put = with(token, at(&uri(space), drive.request("PUT", "", b"x")));
            assert_eq!(drive.send(drive.plain(), put).await.status, there);
        }
        // Neither sees the other's tokens, makes one for the other's space, or ends one.
        for (token, other_space, other_id) in [(&one, space, &second_id), (&second, &*first, &one_id)] {
            let list = with(token, at("/api/v1/tokens", drive.request("GET", "", b"")));
            let listed = drive.send(drive.plain(), list).await.body;
            let listed: serde_json::Value = serde_json::from_slice(&listed).unwrap();
            assert_eq!(listed["tokens"].as_array().unwrap().len(), 1);
            let body = json!({ "name": "x", "space_id": other_space }).to_string().leak().as_bytes();
            let create = with(token, at("/api/v1/tokens", drive.request("POST", "", body)));
            assert_eq!(drive.send(drive.plain(), create).await.status, 404);
            let revoke = at(&format!("/api/v1/tokens/{other_id}"), drive.request("DELETE", "", b""));
            assert_eq!(drive.send(drive.plain(), with(token, revoke)).await.status, 404);
        }
    });
}

#[test]
fn a_token_is_not_made_by_one_that_is_revoked_meanwhile() {
    run(async {
        let drive = Drive::new().await;
        let (token, id) = made(&drive, json!({ "name": "t" })).await;
        let create = with(&token, at("/api/v1/tokens", drive.request("POST", "", b"{\"name\":\"child\"}")));
        let happens = Statement::new("delete from tokens where id = ?1").bind(id.as_str());
        assert_eq!(send_while(&drive, happens, create).await.status, 401);
        assert_eq!(
            drive.column("select name as it from tokens").await,
            [Value::Text("first token".to_owned())]
        );
    });
}
