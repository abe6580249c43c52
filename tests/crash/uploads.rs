//! An upload in parts whose server dies again and again.

use std::io::{Cursor, Read};
use std::sync::mpsc::{Sender, channel};

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_tests::{Drive, Mortal, Reply, noise};
use reqwest::blocking::{Body, RequestBuilder};
use serde_json::{Value, json};

const PART: usize = 20_000_000;
const KILLS: usize = 10;
/// Longer than anything is kept that nobody needs.
const LONG_DAYS: i64 = 30;

/// A body that tells when so many bytes of it have been taken.
struct Telling {
    body: Cursor<Vec<u8>>,
    left: usize,
    tell: Sender<()>,
}

impl Read for Telling {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.body.read(into)?;
        if self.left > 0 && count >= self.left {
            // Whoever waited may have had the answer instead.
            let _nobody = self.tell.send(());
        }
        self.left = self.left.saturating_sub(count);
        Ok(count)
    }
}

fn tus(request: RequestBuilder) -> RequestBuilder {
    request.header("tus-resumable", "1.0.0")
}

#[test]
fn an_upload_goes_on_with_the_next_server_ten_times() {
    goes_on_and_leaves_nothing(120_000_000);
}

#[test]
#[ignore = "takes minutes: cargo xtask test --full"]
fn an_upload_of_300_mb_goes_on_with_the_next_server_ten_times() {
    goes_on_and_leaves_nothing(300_000_000);
}

fn goes_on_and_leaves_nothing(size: usize) {
    let mut server = Mortal::new();
    let content = noise(77, size);
    survives(&mut server, &content);

    // Two more, which nobody goes on with.
    let abandoned = begin(&server, "/abandoned", PART);
    let part = tus(server.request("PATCH", &abandoned)).header("upload-offset", "0");
    let part = part.header("content-type", "application/offset+octet-stream");
    assert_eq!(Reply::to(part.body(noise(78, 9 << 20))).status, 204);
    let folder = "/remote.php/dav/uploads/admin/abandoned";
    assert_eq!(Reply::to(server.request("MKCOL", folder)).status, 201);
    let part = server.request("PUT", &format!("{folder}/1")).body(noise(79, 9 << 20));
    assert_eq!(Reply::to(part).status, 201);
    server.kill();
    let (_, stored) = server.segments();
    assert!(stored >= (size + (18 << 20)) as i64, "{stored}");

    forget(&mut server);
    assert_eq!(Reply::to(tus(server.request("HEAD", &abandoned))).status, 404);
    assert_eq!(Reply::to(server.request("PROPFIND", folder)).status, 404);
    assert_eq!(usage(&server), (json!(size), json!(0)));
    assert!(Reply::to(server.in_space("GET", "files/survivor")).body == content);
    server.kill();
    assert_eq!(server.segments().1, size as i64, "what the file needs, and nothing else");

    server.start();
    assert_eq!(Reply::to(server.in_space("DELETE", "files/survivor")).status, 204);
    assert!(Reply::to(server.in_space("DELETE", "trash")).status < 300);
    Drive::wait_for("the trash is empty", || (usage(&server) == (json!(0), json!(0))).then_some(()));
    server.kill();
    forget(&mut server);
    server.kill();
    assert_eq!(server.segments(), (0, 0));
}

fn begin(server: &Mortal, path: &str, length: usize) -> String {
    let metadata = format!("path {}", STANDARD.encode(path));
    let begin = tus(server.request("POST", "/api/v1/uploads")).header("upload-length", length.to_string());
    let begun = Reply::to(begin.header("upload-metadata", metadata));
    assert_eq!(begun.status, 201);
    begun.header("location").to_owned()
}

/// What the space's files take of its quota, and what uploads have reserved.
fn usage(server: &Mortal) -> (Value, Value) {
    let spaces = Reply::to(server.request("GET", "/api/v1/spaces")).json();
    (spaces["spaces"][0]["used_bytes"].clone(), spaces["spaces"][0]["reserved_bytes"].clone())
}

/// Lets pass, for a server that was killed, the time that abandoned uploads are kept for, and then the grace time, with a
/// sweep after each: nothing is left to be swept.
fn forget(server: &mut Mortal) {
    server.pass_days(LONG_DAYS);
    server.start();
    Drive::wait_for("abandoned uploads have expired", || (usage(server).1 == json!(0)).then_some(()));
    sweep(server, false);
    server.kill();
    server.pass_days(LONG_DAYS);
    server.start();
    sweep(server, false);
    // It notes every object that no row knows.
    sweep(server, true);
    let report = Reply::to(reclaim(server, &json!({ "dry_run": true }))).json();
    for kind in report["kinds"].as_array().unwrap() {
        assert_eq!(kind["count"], 0, "{report}");
    }
}

fn reclaim(server: &Mortal, how: &Value) -> RequestBuilder {
    let request = server.request("POST", "/api/v1/admin/reclaim").header("content-type", "application/json");
    request.body(how.to_string())
}

fn sweep(server: &Mortal, full: bool) {
    let started = Reply::to(reclaim(server, &json!({ "full": full })));
    assert_eq!(started.status, 202);
    let job = started.header("location").to_owned();
    Drive::wait_for("a sweep is over", || {
        let job = Reply::to(server.request("GET", &job)).json();
        job["finished_at"].is_string().then(|| assert_eq!(job["state"], "done", "{job}"))
    });
}

/// Uploads it to a server that is killed again and again.
fn survives(server: &mut Mortal, content: &[u8]) {
    let size = content.len();
    let url = begin(server, "/survivor", size);
    let (mut kills, mut offset) = (0, 0);
    for round in 0..50 {
        let head = Reply::to(tus(server.request("HEAD", &url)));
        assert_eq!(head.status, 200);
        let now: usize = head.header("upload-offset").parse().unwrap();
        assert!(now >= offset, "{now} of {offset}: what was committed stays");
        offset = now;
        if offset == size {
            break;
        }
        let part = content[offset..size.min(offset + PART)].to_vec();
        let (tell, told) = channel();
        // Somewhere in the part: at its beginning, in the middle of a segment, after its end.
        let after = 1 + (round * 7_919_993) % part.len();
        let length = part.len() as u64;
        let body = Telling { body: Cursor::new(part), left: after, tell };
        let request = tus(server.request("PATCH", &url))
            .header("upload-offset", offset.to_string())
            .header("content-type", "application/offset+octet-stream")
            .body(Body::sized(body, length));
        std::thread::scope(|scope| {
            let sent = scope.spawn(move || request.send().map(|answer| answer.status().as_u16()));
            if kills < KILLS && told.recv().is_ok() {
                server.kill();
                kills += 1;
            }
            let answered = sent.join().unwrap();
            assert!(matches!(answered, Err(_) | Ok(204)), "{answered:?}");
        });
        if kills <= KILLS {
            server.kill();
            server.start();
        }
    }
    assert_eq!((kills, offset), (KILLS, size));
    let read = Reply::to(server.in_space("GET", "files/survivor"));
    assert!(read.body == content, "{} bytes", read.body.len());
    let versions = Reply::to(server.in_space("GET", "versions/survivor"));
    assert_eq!(versions.json()["versions"].as_array().map(Vec::len), Some(1));
}
