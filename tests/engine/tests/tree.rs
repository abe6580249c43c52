//! Operations on the tree: all or nothing whatever fails. What they come to, tests/model proves.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use ledge_core::ids::JobId;
use ledge_core::ports::{Platform, Statement, Value};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, check, run, send_while, worker};
use serde_json::json;

fn leak(json: &serde_json::Value) -> &'static [u8] {
    Vec::leak(json.to_string().into_bytes())
}

/// Everything a batch can do at once, a swap of places among it.
fn batch() -> &'static [u8] {
    leak(&json!({"operations": [
        {"op": "copy", "path": "/a", "to": {"name": "c"}},
        {"op": "move", "path": "/a/x", "to": {"parent": "/b", "name": "z"}},
        {"op": "move", "path": "/b/y", "to": {"parent": "/a", "name": "x"}},
        {"op": "copy", "path": "/b", "to": {"name": "b"}, "conflict": "rename"},
        {"op": "delete", "path": "/d"},
    ]}))
}

async fn before() -> Drive {
    let drive = Drive::new().await;
    for folder in ["a", "b", "d"] {
        let made = drive.request("PUT", &format!("folders/{folder}"), b"");
        assert_eq!(drive.send(drive.plain(), made).await.status, 201);
    }
    for (name, content) in [("a/x", b"x".as_slice()), ("b/y", b"yy"), ("d/z", b"zzz")] {
        assert_eq!(drive.put(name, content).await.status, 201);
    }
    drive
}

async fn send<P>(drive: &Drive, platform: &P, method: &str, path: &str, body: &'static [u8]) -> u16
where
    P: Platform,
    P::Host: ledge_core::ports::Host<Body = ledge_hosts::local::Body>,
{
    drive.send(platform, drive.request(method, path, body)).await.status
}

/// Which of the files can be read: before the batch, and after.
async fn files(drive: &Drive) -> Vec<&'static str> {
    let mut there = Vec::new();
    for name in ["a/x", "b/y", "d/z", "b/z", "c/x", "b%20(2)/y"] {
        if drive.get(name).await.status == 200 {
            there.push(name);
        }
    }
    there
}

const OLD: [&str; 3] = ["a/x", "b/y", "d/z"];
const NEW: [&str; 4] = ["a/x", "b/z", "c/x", "b%20(2)/y"];

#[test]
fn a_batch_is_done_or_not_whatever_fails() {
    run(async {
        for when in [When::Before, When::After] {
            // Read, find a free name, commit; what comes after a lost answer has faults of its own.
            for step in 0..3 {
                let drive = before().await;
                let faults = Faults::at(step, when);
                let status =
                    send(&drive, &fail(drive.plain(), &faults), "POST", "nodes/batch", batch()).await;
                let there = files(&drive).await;
                // A commit whose answer is lost is looked up, and sent again where it didn't happen.
                let expected = if step == 2 { (200, NEW.to_vec()) } else { (503, OLD.to_vec()) };
                assert_eq!((status, there), expected, "step {step}, {when:?}");
                check(&drive).await;
            }
        }
    });
}

#[test]
fn a_new_spelling_is_not_undone_by_who_has_read_the_old_one() {
    run(async {
        let drive = before().await;
        assert_eq!(drive.put("caf%C3%A9", b"x").await.status, 201);
        let spelled = Statement::new("update nodes set name = 'cafe\u{301}' where name_nfc = 'caf\u{e9}'");
        let delete = drive.request("DELETE", "files/caf%C3%A9", b"");
        assert_eq!(send_while(&drive, spelled, delete).await.status, 204);
        let names = drive.column("select name as it from nodes where trashed_at is not null").await;
        assert_eq!(names, [Value::from("cafe\u{301}")]);
    });
}

#[test]
fn a_batch_that_a_guard_refuses_leaves_nothing() {
    run(async {
        let drive = before().await;
        let quota = ledge_core::ports::Statement::new("update spaces set quota_bytes = used_bytes + 2");
        ledge_core::ports::Db::write(&drive.ports.db, vec![quota]).await.unwrap();
        assert_eq!(send(&drive, drive.plain(), "POST", "nodes/batch", batch()).await, 507);
        assert_eq!(files(&drive).await, OLD);
        check(&drive).await;
    });
}

#[test]
fn a_purge_is_done_or_not_whatever_fails() {
    run(async {
        for when in [When::Before, When::After] {
            for step in 0..2 {
                let drive = before().await;
                assert_eq!(send(&drive, drive.plain(), "DELETE", "folders/d", b"").await, 204);
                let faults = Faults::at(step, when);
                let status = send(&drive, &fail(drive.plain(), &faults), "DELETE", "trash", b"").await;
                let left =
                    drive.column("select id as it from nodes where trashed_at is not null").await.len();
                assert_eq!((status, left), if step == 1 { (204, 0) } else { (503, 1) }, "{step}, {when:?}");
                check(&drive).await;
            }
        }
    });
}

#[test]
fn a_copy_of_more_than_20_000_nodes_and_a_purge_of_more_than_10_000_are_jobs() {
    run(async {
        let drive = before().await;
        // 2 nodes, then 2^n times as many and some: 1 + 2 * (2^13 - 1) and more.
        for n in 0..14 {
            let copy = json!({"operations": [{"op": "copy", "path": "/a", "to": {"name": format!("c{n}")}}]});
            let status = send(&drive, drive.plain(), "POST", "nodes/batch", leak(&copy)).await;
            assert_eq!(status, 200, "{n}");
            let into = json!({"operations": [
                {"op": "move", "path": format!("/c{n}"), "to": {"parent": "/a"}}
            ]});
            assert_eq!(send(&drive, drive.plain(), "POST", "nodes/batch", leak(&into)).await, 200);
        }
        let copy = |name: &str| json!({"op": "copy", "path": "/a", "to": {"name": name}});
        let two = leak(&json!({"operations": [copy("more"), copy("again")]}));
        let answer = drive.send(drive.plain(), drive.request("POST", "nodes/batch", two)).await;
        let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, &problem["code"]), (413, &json!("too_many_nodes")), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("20000"));
        let one = leak(&json!({"operations": [copy("more")]}));
        by_job(&drive, drive.request("POST", "nodes/batch", one)).await;
        assert_eq!(send(&drive, drive.plain(), "GET", "folders/more/c13/c12", b"").await, 200);
        let nodes = drive.column("select count(*) as it from nodes").await;
        assert_eq!(send(&drive, drive.plain(), "DELETE", "folders/more", b"").await, 204);
        by_job(&drive, drive.request("DELETE", "trash", b"")).await;
        let [Value::Integer(nodes)] = nodes[..] else { unreachable!() };
        let left = drive.column("select count(*) as it from nodes").await;
        assert_eq!(left, [Value::Integer(nodes / 2 + 3)], "the root, b and d and what is in them stay too");
        check(&drive).await;
    });
}

/// Sends a request that a job answers, and has the functions do that.
async fn by_job(drive: &Drive, request: http::Request<&'static [u8]>) {
    let answer = drive.send(drive.plain(), request).await;
    assert_eq!(answer.status, 202, "{}", String::from_utf8_lossy(&answer.body));
    let location = answer.headers["location"].to_str().unwrap();
    let job = JobId::parse(location.strip_prefix("/api/v1/jobs/").unwrap()).unwrap();
    check(drive).await;
    for _ in 0..100 {
        ledge_functions::run(drive.plain(), &job).await;
        if worker::state(drive, &job).await.0 == "done" {
            return check(drive).await;
        }
        worker::due(drive).await;
    }
    unreachable!("{:?}", worker::state(drive, &job).await)
}

/// Another account's space, with a folder, a file in it, and a file in its trash.
const STRANGERS: [&str; 6] = [
    "insert into accounts values ('018f0000-0000-7000-8000-000000000001', 'stranger', 'user', 0)",
    "insert into spaces (id, name, root_id, created_at) values
       ('018f0000-0000-7000-8000-000000000002', 's', '018f0000-0000-7000-8000-000000000003', 0)",
    "insert into blobs (id, size_bytes, etag, media_type, crc32, inline)
       values ('018f0000-0000-7000-8000-000000000004', 1, 'e', 'text/plain', 0, 'eA==')",
    "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, version_id, created_at, modified_at, trashed_at,
                        trashed_from) values
       ('018f0000-0000-7000-8000-000000000003', '018f0000-0000-7000-8000-000000000002', '', 's', 's', 'folder', null, 0, 0,
        null, null),
       ('018f0000-0000-7000-8000-000000000005', '018f0000-0000-7000-8000-000000000002',
        '018f0000-0000-7000-8000-000000000003', 'f', 'f', 'folder', null, 0, 0, null, null),
       ('018f0000-0000-7000-8000-000000000006', '018f0000-0000-7000-8000-000000000002',
        '018f0000-0000-7000-8000-000000000005', 'x', 'x', 'file', '018f0000-0000-7000-8000-000000000008', 0, 0, null, null),
       ('018f0000-0000-7000-8000-000000000007', '018f0000-0000-7000-8000-000000000002',
        'trash/018f0000-0000-7000-8000-000000000002', 'y', 'y', 'file', '018f0000-0000-7000-8000-000000000009', 0, 0, 1,
        '018f0000-0000-7000-8000-000000000005')",
    "insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
       values ('018f0000-0000-7000-8000-000000000008', '018f0000-0000-7000-8000-000000000006',
       '018f0000-0000-7000-8000-000000000004', '018f0000-0000-7000-8000-000000000001', 0, 0)",
    "insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
       values ('018f0000-0000-7000-8000-000000000009', '018f0000-0000-7000-8000-000000000007',
       '018f0000-0000-7000-8000-000000000004', '018f0000-0000-7000-8000-000000000001', 0, 0)",
];

#[test]
fn ids_of_other_spaces_are_not_found() {
    run(async {
        let drive = before().await;
        let strangers = STRANGERS.map(ledge_core::ports::Statement::new).to_vec();
        ledge_core::ports::Db::write(&drive.ports.db, strangers).await.unwrap();
        let id = |n: u8| format!("018f0000-0000-7000-8000-{n:012}");
        for (operation, status) in [
            (json!({"op": "move", "id": id(6), "to": {"parent": "/a"}}), 404),
            (json!({"op": "copy", "id": id(6), "to": {"parent": "/a"}}), 404),
            (json!({"op": "copy", "id": id(5), "to": {"parent": "/a", "name": "q"}}), 404),
            (json!({"op": "copy", "id": id(3), "to": {"parent": "/a", "name": "q"}}), 404),
            (json!({"op": "delete", "id": id(6)}), 404),
            (json!({"op": "restore", "id": id(7), "to": {"parent": "/a"}}), 404),
            (json!({"op": "move", "path": "/a/x", "to": {"parent": id(5)}}), 409),
            (json!({"op": "move", "path": "/a/x", "to": {"parent": id(3)}}), 409),
        ] {
            let body = leak(&json!({"operations": [operation]}));
            let answer = drive.send(drive.plain(), drive.request("POST", "nodes/batch", body)).await;
            assert_eq!(answer.status, status, "{operation}: {:?}", String::from_utf8_lossy(&answer.body));
        }
        assert_eq!(send(&drive, drive.plain(), "DELETE", &format!("trash/{}", id(7)), b"").await, 404);
        assert_eq!(send(&drive, drive.plain(), "POST", &format!("trash/{}/restore", id(7)), b"").await, 404);
        assert_eq!(send(&drive, drive.plain(), "DELETE", "trash", b"").await, 204);
        let theirs =
            "select count(*) as it from nodes where space_id = '018f0000-0000-7000-8000-000000000002'";
        assert_eq!(drive.column(theirs).await, [Value::Integer(4)]);
    });
}

#[test]
fn a_reader_sees_the_trash_and_changes_nothing() {
    run(async {
        let drive = before().await;
        assert_eq!(send(&drive, drive.plain(), "DELETE", "files/a/x", b"").await, 204);
        let demote = ledge_core::ports::Statement::new("update members set role = 'reader'");
        ledge_core::ports::Db::write(&drive.ports.db, vec![demote]).await.unwrap();
        assert_eq!(send(&drive, drive.plain(), "GET", "trash", b"").await, 200);
        for (method, path, body) in [
            ("DELETE", "files/b/y", b"".as_slice()),
            ("DELETE", "folders/b", b""),
            ("DELETE", "trash", b""),
            ("POST", "nodes/batch", batch()),
        ] {
            assert_eq!(send(&drive, drive.plain(), method, path, body).await, 403, "{method} {path}");
        }
        check(&drive).await;
    });
}
