//! Tokens: made, listed, revoked, and what they allow.

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

/// Well-formed, with a right checksum, known to nobody.
const UNKNOWN: &str = "ldg_aaaqeayeaudaocajbifqydiob4ibceqtwhzlsyy";

fn tokens_url() -> String {
    Drive::absolute("/api/v1/tokens")
}

fn create(body: &Value) -> Reply {
    Reply::to(Drive::signed("POST", &tokens_url()).body(body.to_string()))
}

fn create_with(token: &str, body: &Value) -> Reply {
    send(token, "POST", &tokens_url(), &body.to_string())
}

/// Makes a token; returns its secret and its id.
fn made(body: &Value) -> (String, String) {
    let reply = create(body);
    assert_eq!(reply.status, 201, "{body}");
    let token = reply.json();
    (text(&token["token"]), text(&token["id"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn send(token: &str, method: &str, url: &str, body: &str) -> Reply {
    Reply::to(Drive::anonymous(method, url).bearer_auth(token).body(body.to_owned()))
}

fn revoke_url(id: &str) -> String {
    format!("{}/{id}", tokens_url())
}

/// Every token that `token` sees.
fn list(token: &str) -> Vec<Value> {
    let (mut tokens, mut query) = (Vec::new(), "?limit=1000".to_owned());
    loop {
        let reply = send(token, "GET", &(tokens_url() + &query), "");
        assert_eq!(reply.status, 200);
        tokens.extend(reply.json()["tokens"].as_array().unwrap().clone());
        match reply.json()["next"].as_str() {
            Some(next) => query = format!("?limit=1000&cursor={next}"),
            None => return tokens,
        }
    }
}

/// A time so many seconds from now, as the API writes it.
fn in_a(seconds: i64) -> String {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    jiff::Timestamp::from_second(i64::try_from(now).unwrap() + seconds).unwrap().to_string()
}

/// The space under test, as the URL of a file in it names it.
fn space(drive: &Drive) -> String {
    let url = drive.file_url("");
    let (_, rest) = url.split_once("/spaces/").unwrap();
    rest.split('/').next().unwrap().to_owned()
}

#[test]
fn a_token_is_shown_once_listed_without_its_secret_and_revoked_at_once() {
    let drive = Drive::new();
    let url = drive.file_url("a");
    assert_eq!(drive.put("a", "x").status, 201);
    let reply = create(&json!({ "name": "laptop" }));
    assert_eq!((reply.status, reply.cost()), (201, (2, 0)));
    let token = reply.json();
    let (secret, id) = (text(&token["token"]), text(&token["id"]));
    assert!(secret.starts_with("ldg_"));
    assert_eq!(
        (&token["name"], &token["expires_at"], &token["space_id"], &token["folder_id"], &token["rights"]),
        (&json!("laptop"), &Value::Null, &Value::Null, &Value::Null, &json!("write"))
    );
    assert_eq!((&token["protocols"], &token["current"]), (&json!(["rest", "webdav"]), &json!(false)));
    assert_eq!(send(&secret, "GET", &url, "").body, b"x");

    let reply = send(&secret, "GET", &(tokens_url() + "?limit=1000"), "");
    assert_eq!(reply.cost(), (1, 0));
    let listed = list(&secret);
    let own = listed.iter().find(|token| token["id"] == id.as_str()).unwrap();
    assert_eq!((&own["current"], &own["name"]), (&json!(true), &json!("laptop")));
    assert_eq!(own.get("token"), None);
    let text = String::from_utf8(reply.body).unwrap();
    assert!(!text.contains("ldg_"), "no secret, nor a part of one");

    let revoked = Reply::to(Drive::signed("DELETE", &revoke_url(&id)));
    assert_eq!((revoked.status, revoked.cost()), (204, (1, 0)));
    send(&secret, "GET", &url, "").expect_problem(401, "unauthenticated");
    Reply::to(Drive::signed("DELETE", &revoke_url(&id))).expect_problem(404, "not_found");
    Reply::to(Drive::signed("DELETE", &revoke_url("nonsense"))).expect_problem(404, "not_found");
}

#[test]
fn what_a_token_is_made_from_is_checked_and_the_field_is_named() {
    let drive = Drive::new();
    let folder = drive.make_folder("dir").json()["id"].clone();
    for (body, field) in [
        (json!({}), "name"),
        (json!({ "name": "" }), "name"),
        (json!({ "name": 7 }), "name"),
        (json!({ "name": "a\nb" }), "name"),
        (json!({ "name": "x".repeat(256) }), "name"),
        (json!({ "name": "x", "expires_at": "tomorrow" }), "expires_at"),
        (json!({ "name": "x", "expires_at": "2001-01-01T00:00:00Z" }), "expires_at"),
        (json!({ "name": "x", "rights": "admin" }), "rights"),
        (json!({ "name": "x", "protocols": [] }), "protocols"),
        (json!({ "name": "x", "protocols": "rest" }), "protocols"),
        (json!({ "name": "x", "protocols": ["ftp"] }), "protocols"),
        (json!({ "name": "x", "folder_id": folder }), "folder_id"),
        (json!({ "name": "x", "scopes": [] }), "body"),
        (json!(["x"]), "body"),
    ] {
        let reply = create(&body);
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{body}");
    }
    let unknown = "018f0000-0000-7000-8000-000000000000";
    assert_eq!(drive.put("file", "x").status, 201);
    let file = drive.put("file2", "x").json()["id"].clone();
    for body in [
        json!({ "name": "x", "space_id": unknown }),
        json!({ "name": "x", "space_id": "nonsense" }),
        json!({ "name": "x", "space_id": space(&drive), "folder_id": unknown }),
        json!({ "name": "x", "space_id": space(&drive), "folder_id": file }),
    ] {
        create(&body).expect_problem(404, "not_found");
    }
}

#[test]
fn an_expired_token_is_turned_away() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "x").status, 201);
    let (secret, _) = made(&json!({ "name": "short", "expires_at": in_a(2) }));
    Drive::wait_for("the token expires", || {
        let reply = send(&secret, "GET", &drive.file_url("a"), "");
        (reply.status == 401).then_some(())
    });
    let (secret, _) = made(&json!({ "name": "long", "expires_at": in_a(3600) }));
    assert_eq!(send(&secret, "GET", &drive.file_url("a"), "").status, 200);
    // What it makes doesn't outlive it.
    let child = create_with(&secret, &json!({ "name": "child" })).json();
    assert_eq!(
        child["expires_at"],
        list(&secret).iter().find(|t| t["current"] == true).unwrap()["expires_at"]
    );
    let later = json!({ "name": "child", "expires_at": in_a(7200) });
    create_with(&secret, &later).expect_problem(403, "forbidden");
}

#[test]
fn a_token_makes_none_that_may_do_more_than_itself() {
    let drive = Drive::new();
    let space = space(&drive);
    let outer = drive.make_folder("outer").json()["id"].clone();
    let inner = drive.make_folder("outer/inner").json()["id"].clone();
    let beside = drive.make_folder("beside").json()["id"].clone();
    let (reader, _) = made(&json!({ "name": "reader", "rights": "read" }));
    create_with(&reader, &json!({ "name": "x" })).expect_problem(403, "forbidden");
    create_with(&reader, &json!({ "name": "x", "rights": "read" })).expect_problem(403, "forbidden");

    let (rest, _) = made(&json!({ "name": "rest", "protocols": ["rest"] }));
    create_with(&rest, &json!({ "name": "x", "protocols": ["webdav"] })).expect_problem(403, "forbidden");
    create_with(&rest, &json!({ "name": "x", "protocols": ["rest", "webdav"] }))
        .expect_problem(403, "forbidden");
    assert_eq!(create_with(&rest, &json!({ "name": "x" })).json()["protocols"], json!(["rest"]));

    let (scoped, scoped_id) = made(&json!({ "name": "scoped", "space_id": space, "folder_id": outer }));
    let child = create_with(&scoped, &json!({ "name": "child" })).json();
    assert_eq!((&child["space_id"], &child["folder_id"]), (&json!(space), &outer));
    let below = create_with(&scoped, &json!({ "name": "below", "folder_id": inner }));
    assert_eq!((below.status, &below.json()["folder_id"]), (201, &inner));
    create_with(&scoped, &json!({ "name": "x", "folder_id": beside })).expect_problem(404, "not_found");

    // Nor does it see or revoke any that may.
    let (_, wide) = made(&json!({ "name": "wide" }));
    let (_, other) = made(&json!({ "name": "other", "space_id": space, "folder_id": beside }));
    let seen: Vec<String> = list(&scoped).iter().map(|token| text(&token["id"])).collect();
    let below = text(&below.json()["id"]);
    assert!(seen.contains(&scoped_id) && seen.contains(&text(&child["id"])) && seen.contains(&below));
    assert!(!seen.contains(&wide) && !seen.contains(&other));
    for id in [&wide, &other] {
        send(&scoped, "DELETE", &revoke_url(id), "").expect_problem(404, "not_found");
    }
    assert_eq!(send(&scoped, "DELETE", &revoke_url(&below), "").status, 204);
    // Any token may end itself.
    let (reader, reader_id) = made(&json!({ "name": "reader", "rights": "read" }));
    let (_, second) = made(&json!({ "name": "reader", "rights": "read" }));
    send(&reader, "DELETE", &revoke_url(&second), "").expect_problem(403, "forbidden");
    assert_eq!(send(&reader, "DELETE", &revoke_url(&reader_id), "").status, 204);
    send(&reader, "GET", &tokens_url(), "").expect_problem(401, "unauthenticated");
}

#[test]
fn a_folders_token_sees_what_is_below_wherever_it_moves_and_nothing_else() {
    let drive = Drive::new();
    let folder = drive.make_folder("in").json()["id"].clone();
    assert_eq!(drive.make_folder("in/sub").status, 201);
    assert_eq!(drive.put("in/sub/a", "x").status, 201);
    assert_eq!(drive.put("beside", "x").status, 201);
    let (token, _) = made(&json!({ "name": "t", "space_id": space(&drive), "folder_id": folder }));
    let file = |path: &str| drive.file_url(path);
    assert_eq!(send(&token, "GET", &file("in/sub/a"), "").cost(), (1, 0));
    assert_eq!(send(&token, "PUT", &file("in/sub/b"), "new").round_trips(), 2);
    // Whether the space knows some content, outside of the folder too, is not told.
    let large = send(&token, "PUT", &file("in/large"), &"y".repeat(20_000));
    assert_eq!((large.status, large.header("server-timing")), (201, "sql;desc=\"3\""));
    let refused = Reply::to(
        Drive::anonymous("PUT", &file("in/large"))
            .bearer_auth(&token)
            .header("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==")
            .body("z".repeat(20_000)),
    );
    assert_eq!(refused.status, 400);
    assert!(!refused.header("server-timing").contains("bucket"), "{}", refused.header("server-timing"));
    assert_eq!(send(&token, "GET", &file("in/none"), "").status, 404);
    send(&token, "PUT", &file("in/none/a"), "x").expect_problem(409, "parent_missing");
    let folders = |path: &str| drive.file_url(path).replacen("/files/", "/folders/", 1);
    assert_eq!(send(&token, "PUT", &folders("in/new"), "").status, 201);
    assert_eq!(send(&token, "GET", &folders("in"), "").status, 200);
    // Missing and forbidden are the same.
    for url in [file("beside"), file("none"), file(""), file("none/a"), folders(""), folders("none")] {
        for method in ["GET", "PUT"] {
            let url = url.trim_end_matches('/');
            let (out, none) = (send(&token, method, url, "x"), send(&token, method, &file("none"), "x"));
            assert_eq!((out.status, out.body), (404, none.body), "{method} {url}");
        }
    }
    let root = Drive::absolute(&format!("/api/v1/spaces/{}/folders/", space(&drive)));
    send(&token, "GET", &root, "").expect_problem(404, "not_found");
    assert_eq!(drive.get("beside").body, b"x");
}

/// What a route needs.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Read,
    Write,
    /// To see what was deleted: each its own.
    Trash,
    /// To write nodes by id or path: a token that may not write is told so first.
    Nodes,
    /// To administer the drive.
    Admin,
    /// To see tokens.
    Tokens,
    /// To make one.
    Grant,
    /// To revoke one that has no limits.
    Revoke,
}

#[test]
fn every_route_answers_every_kind_of_token() {
    let drive = Drive::new();
    let space = space(&drive);
    let folder = drive.make_folder("in").json()["id"].clone();
    for path in ["in/f", "in/f"] {
        drive.put(path, "content");
    }
    let histories = drive.file_url("in/f").replacen("/files/", "/versions/", 1);
    let history = Reply::to(Drive::signed("GET", &histories)).json();
    let older = text(&history["versions"][1]["id"]);
    let beside = drive.make_folder("beside").json()["id"].clone();
    let (revoked, revoked_id) = made(&json!({ "name": "revoked" }));
    assert_eq!(Reply::to(Drive::signed("DELETE", &revoke_url(&revoked_id))).status, 204);
    let (expired, _) = made(&json!({ "name": "expired", "expires_at": in_a(2) }));
    Drive::wait_for("the token expires", || {
        (send(&expired, "GET", &tokens_url(), "").status == 401).then_some(())
    });
    let malformed = format!("{}x", &UNKNOWN[..UNKNOWN.len() - 1]);
    let limited = |limits: Value| {
        let mut body = limits;
        body["name"] = json!("limited");
        made(&body).0
    };
    let (_, victim) = made(&json!({ "name": "victim" }));

    // (kind, token, answers to Read, Write, Trash, Nodes, Admin, Tokens, Grant, Revoke); 0: as it is without limits.
    let kinds = [
        ("none", None, [401; 8]),
        ("malformed", Some(malformed), [401; 8]),
        ("unknown", Some(UNKNOWN.to_owned()), [401; 8]),
        ("revoked", Some(revoked), [401; 8]),
        ("expired", Some(expired), [401; 8]),
        ("webdav only", Some(limited(json!({ "protocols": ["webdav"] }))), [403; 8]),
        ("read only", Some(limited(json!({ "rights": "read" }))), [0, 403, 0, 403, 0, 0, 403, 404]),
        ("rest only", Some(limited(json!({ "protocols": ["rest"] }))), [0, 0, 0, 0, 0, 0, 0, 404]),
        ("this space", Some(limited(json!({ "space_id": space }))), [0, 0, 0, 0, 403, 0, 0, 404]),
        (
            "folder, within",
            Some(limited(json!({ "space_id": space, "folder_id": folder }))),
            [0, 0, 0, 0, 403, 0, 0, 404],
        ),
        (
            "folder, without",
            Some(limited(json!({ "space_id": space, "folder_id": beside }))),
            [404, 404, 0, 404, 403, 0, 0, 404],
        ),
        (
            "read only, folder without",
            Some(limited(json!({ "space_id": space, "folder_id": beside, "rights": "read" }))),
            [404, 404, 0, 403, 403, 0, 403, 404],
        ),
    ];
    let file = drive.file_url("in/f");
    let folders = drive.file_url("in").replacen("/files/", "/folders/", 1);
    let batch = Drive::absolute(&format!("/api/v1/spaces/{space}/nodes/batch"));
    let copy = json!({ "operations": [{ "op": "copy", "path": drive.path("in/f"), "to": { "name": "c" },
        "conflict": "rename" }] })
    .to_string();
    let trash = Drive::absolute(&format!("/api/v1/spaces/{space}/trash"));
    let jobs = Drive::absolute("/api/v1/jobs");
    let restore = json!({ "restore": older }).to_string();
    let routes: Vec<(Needs, &str, String, &str, u16)> = vec![
        (Needs::Read, "GET", file.clone(), "", 200),
        (Needs::Read, "HEAD", file.clone(), "", 200),
        (Needs::Read, "GET", format!("{file}?version={older}"), "", 200),
        (Needs::Read, "GET", format!("{file}?at=9999-01-01T00:00:00Z"), "", 200),
        (Needs::Read, "GET", folders.clone(), "", 200),
        (Needs::Read, "GET", histories.clone(), "", 200),
        (Needs::Read, "GET", drive.file_url("in?q=f").replacen("/files/", "/search/", 1), "", 200),
        (Needs::Write, "PUT", file.clone(), "content", 204),
        (Needs::Write, "PUT", folders.clone(), "", 200),
        (Needs::Write, "POST", histories.clone(), &restore, 201),
        (Needs::Write, "PATCH", format!("{histories}?version={older}"), "{\"label\":\"l\"}", 200),
        // The condition fails, so that it is there for the next one.
        (Needs::Write, "DELETE", format!("{histories}?version={older}"), "", 412),
        (Needs::Nodes, "DELETE", file.clone(), "", 412),
        (Needs::Nodes, "POST", batch, &copy, 200),
        (Needs::Trash, "GET", trash, "", 200),
        (Needs::Tokens, "GET", jobs, "", 200),
        (Needs::Admin, "GET", Drive::absolute("/api/v1/admin/jobs"), "", 200),
        (Needs::Admin, "GET", Drive::absolute("/api/v1/admin/backups"), "", 200),
        (Needs::Tokens, "GET", tokens_url(), "", 200),
        (Needs::Grant, "POST", tokens_url(), "{\"name\":\"made\"}", 201),
        (Needs::Revoke, "DELETE", revoke_url(&victim), "", 204),
    ];
    for (kind, token, answers) in &kinds {
        for (needs, method, url, body, success) in &routes {
            let expected = match answers[*needs as usize] {
                0 => *success,
                status => status,
            };
            let request = Drive::anonymous(method, url).body((*body).to_owned());
            let request = if expected == 412 { request.header("if-match", "\"other\"") } else { request };
            let request = match token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            let reply = Reply::to(request);
            assert_eq!(reply.status, expected, "{method} {url} with {kind}");
            if expected >= 400 && *method != "HEAD" {
                let code = match expected {
                    401 => "unauthenticated",
                    403 => "forbidden",
                    412 => "precondition_failed",
                    _ => "not_found",
                };
                reply.expect_problem(expected, code);
            }
        }
    }
    assert!(list(&made(&json!({ "name": "last" })).0).iter().any(|token| token["id"] == victim.as_str()));
}
