//! Direct transfers: the client and the bucket, without the drive between them.

use std::sync::LazyLock;

use ledge_core::digest::Sha256;
use ledge_tests::delta::{Piece, cut, manifest};
use ledge_tests::{Drive, Mortal, Reply, noise};
use reqwest::Method;
use reqwest::blocking::Client;
use reqwest::redirect::Policy;
use serde_json::{Value, json};

/// One that doesn't follow.
static CLIENT: LazyLock<Client> =
    LazyLock::new(|| Client::builder().redirect(Policy::none()).build().expect("a client"));

fn server() -> Mortal {
    Mortal::with(&[("LEDGE_DIRECT_DOWNLOADS", "on"), ("LEDGE_DIRECT_UPLOADS", "on")])
}

fn put(server: &Mortal, name: &str, media_type: &str, content: &[u8]) {
    let request = server.in_space("PUT", &format!("files/{name}")).header("content-type", media_type);
    assert_eq!(Reply::to(request.body(content.to_vec())).status, 201);
}

/// The answer to a GET, which isn't followed.
fn get(server: &Mortal, path: &str, headers: &[(&'static str, &str)]) -> Reply {
    let mut request = server.in_space("GET", path).build().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    Reply::of(CLIENT.execute(request).unwrap())
}

/// What is behind a URL, for a stranger.
fn fetch(url: &str, range: Option<&str>) -> Reply {
    let request = CLIENT.get(url);
    Reply::to(match range {
        Some(range) => request.header("range", range),
        None => request,
    })
}

#[test]
fn content_that_is_a_whole_object_is_fetched_from_the_bucket() {
    let server = server();
    let content = noise(1, 3_000_000);
    put(&server, "a%20b.html", "text/html", &content);
    for (query, disposition) in [("", "inline"), ("?download", "attachment")] {
        let reply = get(&server, &format!("files/a%20b.html{query}"), &[]);
        assert_eq!(reply.status, 307);
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.header("referrer-policy"), "no-referrer");
        let url = reply.header("location").to_owned();
        assert!(!url.starts_with(server.url()), "{url}");
        let fetched = fetch(&url, None);
        assert_eq!(fetched.status, 200);
        assert!(fetched.body == content);
        assert_eq!(fetched.header("content-type"), "text/html");
        let kept = get(&server, &format!("files/a%20b.html{query}"), &[("if-none-match", "\"other\"")]);
        assert_eq!(kept.status, 200, "a bucket's tags are others");
        assert_eq!(fetched.header("content-disposition"), kept.header("content-disposition"));
        assert!(disposition == "inline" || kept.header("content-disposition").starts_with(disposition));
        let part = fetch(&url, Some("bytes=1000-1999"));
        assert_eq!((part.status, part.body.as_slice()), (206, &content[1000..2000]));
        // What was signed is all that it is good for.
        assert_eq!(fetch(&url.replace("text%2Fhtml", "text%2Fplain"), None).status, 403);
        assert_eq!(CLIENT.delete(&url).send().unwrap().status().as_u16(), 403);
    }
    let ranged = get(&server, "files/a%20b.html", &[("range", "bytes=5-9")]);
    assert_eq!(ranged.status, 307);
}

#[test]
fn all_else_comes_from_the_drive() {
    let server = server();
    put(&server, "small", "text/plain", b"in the database");
    put(&server, "two", "text/plain", &noise(2, 9 << 20));
    put(&server, "one", "text/plain", &noise(3, 100_000));
    assert_eq!(Reply::to(server.in_space("POST", "append/one").body(noise(4, 10_000))).status, 200);
    put(&server, "whole", "text/plain", &noise(5, 100_000));
    for path in ["files/small", "files/two", "files/one"] {
        assert_eq!(get(&server, path, &[]).status, 200, "{path}");
    }
    assert_eq!(get(&server, "files/whole", &[("range", "bytes=0-1,5-6")]).status, 206);
    let etag = get(&server, "files/whole", &[]).header("etag").to_owned();
    assert_eq!(get(&server, "files/whole", &[("if-none-match", &etag)]).status, 304);
    assert_eq!(get(&server, "files/whole", &[("if-match", &etag)]).status, 200);
    let head = server.in_space("HEAD", "files/whole").build().unwrap();
    assert_eq!(CLIENT.execute(head).unwrap().status().as_u16(), 200);
    let dav = server.request("GET", "/dav/whole").build().unwrap();
    assert_eq!(CLIENT.execute(dav).unwrap().status().as_u16(), 200);
    let stranger = server.in_space("GET", "files/whole").build().unwrap();
    let anonymous = CLIENT.get(stranger.url().clone()).send().unwrap();
    assert_eq!(anonymous.status().as_u16(), 401);
    // Off by default.
    let server = Mortal::new();
    put(&server, "whole", "text/plain", &noise(5, 100_000));
    assert_eq!(get(&server, "files/whole", &[]).status, 200);
    let begun = Reply::to(server.in_space("POST", "segments/direct").body(announced(&[&noise(6, 100)])));
    begun.expect_problem(409, "not_direct");
}

/// What a client says of segments that consist of one chunk each.
fn announced(segments: &[&[u8]]) -> String {
    let segment = |bytes: &&[u8]| {
        let sha256 = Sha256::of(bytes).to_string();
        json!({ "sha256": sha256, "chunks": [{ "hash": sha256, "length": bytes.len() }] })
    };
    json!({ "segments": segments.iter().map(segment).collect::<Vec<_>>() }).to_string()
}

/// Sends a request that the drive has given.
fn send(put: &Value, body: &[u8]) -> u16 {
    let method = Method::from_bytes(put["method"].as_str().unwrap().as_bytes()).unwrap();
    let mut request = CLIENT.request(method, put["url"].as_str().unwrap());
    for (name, value) in put["headers"].as_object().unwrap() {
        // The client knows the length itself.
        if name != "content-length" {
            request = request.header(name, value.as_str().unwrap());
        }
    }
    request.body(body.to_vec()).send().unwrap().status().as_u16()
}

/// Has the job done; its state, and its error.
fn verify(server: &Mortal, begun: &Reply) -> (String, Value) {
    let asked = Reply::to(server.request("POST", begun.header("location")));
    assert_eq!(asked.status, 202, "{}", String::from_utf8_lossy(&asked.body));
    let job = asked.header("location").to_owned();
    Drive::wait_for("the job is over", || {
        let job = Reply::to(server.request("GET", &job)).json();
        job["finished_at"]
            .is_string()
            .then(|| (job["state"].as_str().unwrap().to_owned(), job["error"].clone()))
    })
}

#[test]
fn a_file_is_made_of_segments_that_the_drive_never_saw_pass() {
    let server = server();
    let content = noise(7, 12 << 20);
    let pieces = cut(&content);
    let groups: Vec<&[Piece]> = pieces.chunks(2).collect();
    let bytes = |group: &[Piece]| &content[group[0].range.start..group[group.len() - 1].range.end];
    let segment = |group: &&[Piece]| {
        let chunk = |piece: &Piece| json!({ "hash": piece.hash.to_string(), "length": piece.range.len() });
        let chunks: Vec<Value> = group.iter().map(chunk).collect();
        json!({ "sha256": Sha256::of(bytes(group)).to_string(), "chunks": chunks })
    };
    let announced = json!({ "segments": groups.iter().map(segment).collect::<Vec<_>>() }).to_string();
    let begun = Reply::to(server.in_space("POST", "segments/direct").body(announced));
    assert_eq!(begun.status, 201, "{}", String::from_utf8_lossy(&begun.body));
    assert_eq!(begun.header("cache-control"), "no-store");
    let puts = begun.json()["segments"].as_array().unwrap().clone();
    for (put, group) in puts.iter().zip(&groups) {
        assert_eq!(send(put, bytes(group)), 200);
    }
    assert_eq!(verify(&server, &begun).0, "done");
    let list = server.in_space("PUT", "files/direct").body(manifest(&pieces).to_string());
    let saved = Reply::to(list.header("content-type", "application/vnd.ledge.manifest+json"));
    assert_eq!(saved.status, 201, "{}", String::from_utf8_lossy(&saved.body));
    assert!(Reply::to(server.in_space("GET", "files/direct")).body == content);
}

#[test]
fn a_url_stores_what_was_announced_once_and_nothing_else() {
    let server = server();
    let (first, second) = (noise(8, 5000), noise(9, 5000));
    let begun = Reply::to(server.in_space("POST", "segments/direct").body(announced(&[&first, &second])));
    let puts = begun.json()["segments"].as_array().unwrap().clone();
    for wrong in [&first[..4999], &[first.as_slice(), b"x"].concat()] {
        let status = send(&puts[0], wrong);
        assert!((400..500).contains(&status), "{status}");
    }
    let mut unconditional = puts[0].clone();
    unconditional["headers"].as_object_mut().unwrap().remove("if-none-match");
    assert_eq!(send(&unconditional, &first), 403);
    assert_eq!(send(&puts[0], &first), 200);
    assert_eq!(send(&puts[0], &first), 412);
    let (state, error) = verify(&server, &begun);
    assert_eq!(state, "dead");
    assert!(error.as_str().unwrap().contains("segment 1"), "{error}");
    assert_eq!(send(&puts[1], &second), 200);
    assert_eq!(verify(&server, &begun).0, "done");
    // Other content is refused, too, but a store may have kept it by then: that is what the job is for.
    let begun = Reply::to(server.in_space("POST", "segments/direct").body(announced(&[&first])));
    let status = send(&begun.json()["segments"][0], &second);
    assert!((400..500).contains(&status), "{status}");
    assert_eq!(verify(&server, &begun).0, "dead");
}
