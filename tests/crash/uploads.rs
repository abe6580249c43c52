//! An upload in parts whose server dies again and again.

use std::io::{Cursor, Read};
use std::sync::mpsc::{Sender, channel};

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_tests::{Mortal, Reply, noise};
use reqwest::blocking::{Body, RequestBuilder};

const SIZE: usize = 120_000_000;
const PART: usize = 20_000_000;
const KILLS: usize = 10;

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
    let mut server = Mortal::new();
    let content = noise(77, SIZE);
    let metadata = format!("path {}", STANDARD.encode("/survivor"));
    let begin = tus(server.request("POST", "/api/v1/uploads")).header("upload-length", SIZE.to_string());
    let begun = Reply::to(begin.header("upload-metadata", metadata));
    assert_eq!(begun.status, 201);
    let url = begun.header("location").to_owned();
    let (mut kills, mut offset) = (0, 0);
    for round in 0..50 {
        let head = Reply::to(tus(server.request("HEAD", &url)));
        assert_eq!(head.status, 200);
        let now: usize = head.header("upload-offset").parse().unwrap();
        assert!(now >= offset, "{now} of {offset}: what was committed stays");
        offset = now;
        if offset == SIZE {
            break;
        }
        let part = content[offset..SIZE.min(offset + PART)].to_vec();
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
    assert_eq!((kills, offset), (KILLS, SIZE));
    let read = Reply::to(server.in_space("GET", "files/survivor"));
    assert!(read.body == content, "{} bytes", read.body.len());
    let versions = Reply::to(server.in_space("GET", "versions/survivor"));
    assert_eq!(versions.json()["versions"].as_array().map(Vec::len), Some(1));
}
