//! Uploads in parts: whatever fails, what they hold of the quota, and what is left of them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

mod steps;

use std::pin::pin;

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::future::{Either, join_all, select};
use http::Request;
use ledge_core::ports::{Db, Statement, Value};
use ledge_core::uploads;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Answer, Drive, check, noise, run};

fn tus(drive: &Drive, method: &str, url: &str, body: &'static [u8]) -> Request<&'static [u8]> {
    let mut request = drive.request(method, "", body);
    *request.uri_mut() = url.parse().unwrap();
    request.headers_mut().insert("tus-resumable", "1.0.0".parse().unwrap());
    request
}

fn begin(drive: &Drive, path: &str, length: u64) -> Request<&'static [u8]> {
    let mut request = tus(drive, "POST", "/api/v1/uploads", b"");
    let metadata = format!("path {}", STANDARD.encode(path));
    request.headers_mut().insert("upload-metadata", metadata.parse().unwrap());
    request.headers_mut().insert("upload-length", length.into());
    request
}

fn part(drive: &Drive, url: &str, offset: usize, body: &'static [u8]) -> Request<&'static [u8]> {
    let mut request = tus(drive, "PATCH", url, body);
    request.headers_mut().insert("upload-offset", offset.into());
    request.headers_mut().insert("content-type", "application/offset+octet-stream".parse().unwrap());
    request
}

async fn begun(drive: &Drive, path: &str, length: usize) -> String {
    let answer = drive.send(drive.plain(), begin(drive, path, length as u64)).await;
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    answer.headers["location"].to_str().unwrap().to_owned()
}

async fn offset(drive: &Drive, url: &str) -> usize {
    let answer = drive.send(drive.plain(), tus(drive, "HEAD", url, b"")).await;
    assert_eq!(answer.status, 200);
    answer.headers["upload-offset"].to_str().unwrap().parse().unwrap()
}

async fn sql(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}

async fn reserved(drive: &Drive) -> Vec<Value> {
    drive.column("select reserved_bytes as it from spaces").await
}

/// Nothing is left of any upload, and nothing is counted that isn't there.
async fn nothing_is_left(drive: &Drive) {
    assert_eq!(reserved(drive).await, [Value::Integer(0)]);
    for table in [
        "select count(*) as it from uploads where finished is null",
        "select count(*) as it from upload_parts",
    ] {
        assert_eq!(drive.column(table).await, [Value::Integer(0)], "{table}");
    }
    check(drive).await;
    assert_eq!(drive.lost_objects().await, Vec::<String>::new());
}

/// Sends parts until the file is there, as a client does that loses connections.
async fn resume(drive: &Drive, url: &str, content: &'static [u8]) {
    for _ in 0..10 {
        let at = offset(drive, url).await;
        if at == content.len() {
            return;
        }
        let end = content.len().min(at + (9 << 20));
        let answer = drive.send(drive.plain(), part(drive, url, at, &content[at..end])).await;
        assert_eq!(answer.status, 204, "{}", String::from_utf8_lossy(&answer.body));
    }
    panic!("it never ends");
}

/// An upload with a part of two segments behind it, and the last part.
async fn half_way(content: &'static [u8]) -> (Drive, String) {
    let drive = Drive::new().await;
    let url = begun(&drive, "a", content.len()).await;
    let first = drive.send(drive.plain(), part(&drive, &url, 0, &content[..9 << 20])).await;
    assert_eq!(first.status, 204);
    (drive, url)
}

#[test]
fn a_failure_at_any_step_of_a_part_leaves_an_upload_that_goes_on() {
    run(async {
        let content: &'static [u8] = noise(1, 19 << 20).leak();
        let steps = steps(content).await;
        assert!(steps >= 8, "{steps} steps");
        for step in 0..steps {
            for when in [When::Before, When::After] {
                let (drive, url) = half_way(content).await;
                let faults = Faults::at(step, when);
                let last = part(&drive, &url, 9 << 20, &content[9 << 20..]);
                let status = drive.send(&fail(drive.plain(), &faults), last).await.status;
                let at = format!("step {step}, {when:?}: {status}");
                assert!(matches!(status, 204 | 503), "{at}");
                assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "{at}");
                if status == 503 && drive.get("a").await.status == 404 {
                    let offset = offset(&drive, &url).await;
                    assert!((9 << 20..content.len()).contains(&offset), "{at}: {offset}");
                }
                resume(&drive, &url, content).await;
                assert!(drive.get("a").await.body == content, "{at}");
                nothing_is_left(&drive).await;
            }
        }
    });
}

#[test]
fn a_process_that_dies_at_any_step_of_a_part_leaves_an_upload_that_goes_on() {
    run(async {
        let content: &'static [u8] = noise(2, 19 << 20).leak();
        for step in 0..steps(content).await {
            for when in [When::DiesBefore, When::DiesAfter] {
                let (drive, url) = half_way(content).await;
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let last = pin!(drive.send(&platform, part(&drive, &url, 9 << 20, &content[9 << 20..])));
                let died = matches!(select(last, pin!(faults.death())).await, Either::Right(_));
                assert!(died, "step {step} is on the way");
                assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "step {step}, {when:?}");
                resume(&drive, &url, content).await;
                assert!(drive.get("a").await.body == content, "step {step}, {when:?}");
                assert_eq!(drive.column("select count(*) as it from versions").await, [Value::Integer(1)]);
                nothing_is_left(&drive).await;
            }
        }
    });
}

/// How many calls of the ports the last part makes.
async fn steps(content: &'static [u8]) -> u32 {
    let (drive, url) = half_way(content).await;
    let faults = Faults::default();
    let last = part(&drive, &url, 9 << 20, &content[9 << 20..]);
    assert_eq!(drive.send(&fail(drive.plain(), &faults), last).await.status, 204);
    faults.calls()
}

#[test]
fn a_body_that_breaks_off_keeps_what_has_come() {
    run(async {
        let content: &'static [u8] = noise(3, 20 << 20).leak();
        for (cut, kept) in [(100, 100), (70_000, 70_000), (10 << 20, 10 << 20), (19 << 20, 19 << 20)] {
            let drive = Drive::new().await;
            let url = begun(&drive, "a", content.len()).await;
            let (parts, _) = part(&drive, &url, 0, content).into_parts();
            let broken = Breaking { rest: &content[..cut] };
            let response = ledge_gateway::handle(drive.plain(), Request::from_parts(parts, broken)).await;
            assert_eq!(response.status(), 400);
            assert_eq!(offset(&drive, &url).await, kept);
            resume(&drive, &url, content).await;
            assert!(drive.get("a").await.body == content, "{cut}");
            // With a checksum, it counts as a whole or not at all.
            let url = begun(&drive, "b", content.len()).await;
            let (mut parts, _) = part(&drive, &url, 0, content).into_parts();
            parts.headers.insert("upload-checksum", "md5 1B2M2Y8AsgTpgAmY7PhCfg==".parse().unwrap());
            let broken = Breaking { rest: &content[..cut] };
            let response = ledge_gateway::handle(drive.plain(), Request::from_parts(parts, broken)).await;
            assert_eq!((response.status().as_u16(), offset(&drive, &url).await), (400, 0));
        }
    });
}

/// A body whose connection is lost.
struct Breaking {
    rest: &'static [u8],
}

impl ledge_core::ports::Upload for Breaking {
    async fn read(
        &mut self,
        into: &mut Vec<u8>,
        at_most: usize,
    ) -> Result<usize, ledge_core::ports::UploadError> {
        match self.rest.read(into, at_most).await? {
            0 => Err(ledge_core::ports::UploadError::Cut("the connection is lost".to_owned())),
            count => Ok(count),
        }
    }
}

#[test]
fn parts_of_a_byte_leave_few_rows_and_no_segment_each() {
    run(async {
        let drive = Drive::new().await;
        let content: &'static [u8] = noise(4, 3000).leak();
        let url = begun(&drive, "a", content.len()).await;
        for at in 0..content.len() {
            assert_eq!(
                drive.send(drive.plain(), part(&drive, &url, at, &content[at..=at])).await.status,
                204
            );
        }
        assert!(drive.get("a").await.body == content);
        assert_eq!(drive.objects().await, Vec::<String>::new(), "it fits a row");
        // 100 parts of 7,000 bytes: a segment for each 64 KiB at most.
        let content: &'static [u8] = noise(5, 700_000).leak();
        let url = begun(&drive, "b", content.len()).await;
        for at in (0..content.len()).step_by(7000) {
            let sent = part(&drive, &url, at, &content[at..at + 7000]);
            assert_eq!(drive.send(drive.plain(), sent).await.status, 204);
        }
        assert!(drive.get("b").await.body == content);
        assert!(drive.objects().await.len() <= 11, "{}", drive.objects().await.len());
        assert_eq!(drive.column("select count(*) as it from pages").await, [Value::Integer(1)]);
        nothing_is_left(&drive).await;
    });
}

#[test]
fn what_uploads_hold_counts_against_the_quota_and_their_own_only_once() {
    run(async {
        let drive = Drive::new().await;
        sql(&drive, "update spaces set quota_bytes = 1000000").await;
        let content: &'static [u8] = noise(6, 600_000).leak();
        let url = begun(&drive, "a", 600_000).await;
        let refused = drive.send(drive.plain(), begin(&drive, "b", 600_000)).await;
        assert_eq!(refused.status, 507);
        assert_eq!(drive.put("c", noise(7, 500_000).leak()).await.status, 507);
        assert_eq!(drive.put("c", noise(7, 300_000).leak()).await.status, 201);
        let copy = r#"{"operations":[{"op":"copy","path":"/c","to":{"name":"d"}}]}"#.as_bytes();
        assert_eq!(drive.send(drive.plain(), drive.request("POST", "nodes/batch", copy)).await.status, 507);
        // What it has reserved is what it takes.
        assert_eq!(drive.send(drive.plain(), part(&drive, &url, 0, content)).await.status, 204);
        assert_eq!(drive.column("select used_bytes as it from spaces").await, [Value::Integer(900_000)]);
        nothing_is_left(&drive).await;

        // Without a length, what arrives is reserved.
        let mut deferred = begin(&drive, "e", 0);
        deferred.headers_mut().remove("upload-length");
        deferred.headers_mut().insert("upload-defer-length", "1".parse().unwrap());
        let begun = drive.send(drive.plain(), deferred).await;
        let url = begun.headers["location"].to_str().unwrap().to_owned();
        let first = drive.send(drive.plain(), part(&drive, &url, 0, &content[..90_000])).await;
        assert_eq!((first.status, reserved(&drive).await), (204, vec![Value::Integer(90_000)]));
        let too_much = drive.send(drive.plain(), part(&drive, &url, 90_000, &content[..20_000])).await;
        assert_eq!((too_much.status, reserved(&drive).await), (507, vec![Value::Integer(90_000)]));
        assert_eq!(drive.send(drive.plain(), tus(&drive, "DELETE", &url, b"")).await.status, 204);
        nothing_is_left(&drive).await;
    });
}

#[test]
fn a_quota_is_never_overrun_by_parts_side_by_side() {
    run(async {
        let drive = Drive::new().await;
        sql(&drive, "update spaces set quota_bytes = 1000000").await;
        let dav = |method: &str, path: &str, body| {
            let mut request = drive.request(method, "", body);
            *request.uri_mut() = format!("/remote.php/dav/uploads/admin/{path}").parse().unwrap();
            request
        };
        assert_eq!(drive.send(drive.plain(), dav("MKCOL", "up", b"")).await.status, 201);
        let body: &'static [u8] = noise(8, 300_000).leak();
        let parts = (0..8).map(|n| drive.send(drive.plain(), dav("PUT", &format!("up/{n}"), body)));
        let parts: Vec<Answer> = join_all(parts).await;
        assert_eq!(parts.iter().filter(|answer| answer.status == 201).count(), 3);
        assert_eq!(parts.iter().filter(|answer| answer.status == 507).count(), 5);
        assert_eq!(reserved(&drive).await, [Value::Integer(900_000)]);
        let mut moved = dav("MOVE", "up/.file", b"");
        let to = "/remote.php/dav/files/admin/joined".parse().unwrap();
        moved.headers_mut().insert("destination", to);
        assert_eq!(drive.send(drive.plain(), moved).await.status, 201);
        assert_eq!(drive.column("select used_bytes as it from spaces").await, [Value::Integer(900_000)]);
        assert!(drive.get("joined").await.body == [body, body, body].concat());
        nothing_is_left(&drive).await;
    });
}

#[test]
fn what_is_abandoned_expires_with_all_that_it_held() {
    run(async {
        let drive = Drive::new().await;
        let content: &'static [u8] = noise(9, 9 << 20).leak();
        let url = begun(&drive, "a", content.len()).await;
        assert_eq!(drive.send(drive.plain(), part(&drive, &url, 0, &content[..8_500_000])).await.status, 204);
        let mut folder = drive.request("MKCOL", "", b"");
        *folder.uri_mut() = "/remote.php/dav/uploads/admin/up".parse().unwrap();
        assert_eq!(drive.send(drive.plain(), folder).await.status, 201);
        let mut put = drive.request("PUT", "", &content[..100_000]);
        *put.uri_mut() = "/remote.php/dav/uploads/admin/up/1".parse().unwrap();
        assert_eq!(drive.send(drive.plain(), put).await.status, 201);
        assert_eq!(reserved(&drive).await, [Value::Integer((9 << 20) + 100_000)]);
        assert_eq!(uploads::expire(drive.plain(), 10).await, Ok(0), "nothing has expired");

        sql(&drive, "update uploads set expires_at = 1").await;
        assert_eq!(drive.send(drive.plain(), tus(&drive, "HEAD", &url, b"")).await.status, 404);
        let late = part(&drive, &url, 8_500_000, &content[8_500_000..]);
        assert_eq!(drive.send(drive.plain(), late).await.status, 404);
        assert_eq!(uploads::expire(drive.plain(), 1).await, Ok(1));
        assert_eq!(uploads::expire(drive.plain(), 10).await, Ok(1));
        assert_eq!(uploads::expire(drive.plain(), 10).await, Ok(0));
        nothing_is_left(&drive).await;
        for table in [
            "select count(*) as it from blobs",
            "select count(*) as it from pages",
            "select count(*) as it from page_segments",
        ] {
            assert_eq!(drive.column(table).await, [Value::Integer(0)], "{table}");
        }
    });
}

#[test]
fn ten_thousand_uploads_are_not_begun() {
    run(async {
        let drive = Drive::new().await;
        let mut refused = None;
        for n in 0..1010 {
            let answer = drive.send(drive.plain(), begin(&drive, "a", 1)).await;
            if answer.status != 201 {
                refused = Some((n, answer));
                break;
            }
        }
        let (count, answer) = refused.unwrap();
        let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((count, answer.status, problem["code"].as_str()), (1000, 429, Some("too_many_uploads")));
        assert_eq!(reserved(&drive).await, [Value::Integer(1000)]);
        let mut folder = drive.request("MKCOL", "", b"");
        *folder.uri_mut() = "/remote.php/dav/uploads/admin/one-more".parse().unwrap();
        assert_eq!(drive.send(drive.plain(), folder).await.status, 429);
        assert_eq!(drive.column("select count(*) as it from uploads").await, [Value::Integer(1000)]);
        assert_eq!(reserved(&drive).await, [Value::Integer(1000)], "what was refused holds nothing");
        check(&drive).await;
        // Finished ones don't count.
        let Some(Value::Text(id)) = drive.column("select id as it from uploads limit 1").await.pop() else {
            unreachable!("there are a thousand")
        };
        let last = part(&drive, &format!("/api/v1/uploads/{id}"), 0, b"x");
        assert_eq!(drive.send(drive.plain(), last).await.status, 204);
        assert_eq!(drive.send(drive.plain(), begin(&drive, "a", 1)).await.status, 201);
    });
}

#[test]
fn an_upload_that_is_abandoned_meanwhile_is_not_finished() {
    run(async {
        let drive = Drive::new().await;
        let content: &'static [u8] = noise(10, 300_000).leak();
        let url = begun(&drive, "a", content.len()).await;
        // It goes between the look and the commit.
        sql(&drive, "create trigger race after insert on ingests begin delete from uploads; end").await;
        let answer = drive.send(drive.plain(), part(&drive, &url, 0, content)).await;
        assert_eq!((answer.status, drive.get("a").await.status), (404, 404));
        sql(&drive, "drop trigger race").await;
        nothing_is_left(&drive).await;
    });
}

#[test]
fn a_token_with_limits_goes_on_with_its_own_uploads_only() {
    run(async {
        let drive = Drive::new().await;
        let url = begun(&drive, "a", 3).await;
        let make = |body: &'static str| {
            let mut request = drive.request("POST", "", body.as_bytes());
            *request.uri_mut() = "/api/v1/tokens".parse().unwrap();
            request
        };
        let token = |answer: Answer| {
            let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
            format!("Bearer {}", body["token"].as_str().unwrap())
        };
        let whole = token(drive.send(drive.plain(), make(r#"{"name":"another"}"#)).await);
        let reads = token(drive.send(drive.plain(), make(r#"{"name":"reads","rights":"read"}"#)).await);
        let webdav = token(drive.send(drive.plain(), make(r#"{"name":"dav","protocols":["webdav"]}"#)).await);
        for (token, status) in [(reads, 403), (webdav, 403), (whole, 204)] {
            let mut sent = part(&drive, &url, 0, b"abc");
            sent.headers_mut().insert("authorization", token.parse().unwrap());
            assert_eq!(drive.send(drive.plain(), sent).await.status, status);
        }
        assert_eq!(drive.put("folder-token", b"x").await.status, 201);
        assert_eq!(drive.send(drive.plain(), drive.request("PUT", "folders/photos", b"")).await.status, 201);
        let url = begun(&drive, "b", 3).await;
        let (Some(Value::Text(folder)), Some(Value::Text(space))) = (
            drive.column("select id as it from nodes where name = 'photos'").await.pop(),
            drive.column("select id as it from spaces").await.pop(),
        ) else {
            unreachable!("both are there")
        };
        let body = format!(r#"{{"name":"f","space_id":"{space}","folder_id":"{folder}"}}"#).leak();
        let limited = token(drive.send(drive.plain(), make(body)).await);
        for (method, status) in [("HEAD", 404), ("DELETE", 404)] {
            let mut sent = tus(&drive, method, &url, b"");
            sent.headers_mut().insert("authorization", limited.parse().unwrap());
            assert_eq!(drive.send(drive.plain(), sent).await.status, status, "{method}");
        }
        let mut own = begin(&drive, "in-it", 1);
        own.headers_mut().insert("authorization", limited.parse().unwrap());
        let begun = drive.send(drive.plain(), own).await;
        let url = begun.headers["location"].to_str().unwrap().to_owned();
        let mut sent = part(&drive, &url, 0, b"x");
        sent.headers_mut().insert("authorization", limited.parse().unwrap());
        assert_eq!(drive.send(drive.plain(), sent).await.status, 204);
        assert_eq!(drive.get("photos/in-it").await.body, b"x");
    });
}
