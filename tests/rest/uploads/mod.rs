//! Uploads in parts: tus.

mod concat;
mod hostile;
mod parts;
mod quota;

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_tests::{Drive, Reply};
use reqwest::blocking::RequestBuilder;

const UPLOADS: &str = "/api/v1/uploads";

/// A request of tus' protocol; `url` as a Location gives it.
fn tus(method: &str, url: &str) -> RequestBuilder {
    Drive::signed(method, &Drive::absolute(url)).header("tus-resumable", "1.0.0")
}

/// The metadata for a file in the drive's folder.
fn metadata(drive: &Drive, path: &str) -> String {
    let pair = |key: &str, value: &str| format!("{key} {}", STANDARD.encode(value));
    [pair("space", Drive::space()), pair("path", &drive.path(path))].join(",")
}

/// Begins an upload.
fn begin(drive: &Drive, path: &str, length: usize) -> RequestBuilder {
    tus("POST", UPLOADS)
        .header("upload-length", length.to_string())
        .header("upload-metadata", metadata(drive, path))
}

/// Begins an upload; its URL.
#[track_caller]
fn begun(drive: &Drive, path: &str, length: usize) -> String {
    let reply = Reply::to(begin(drive, path, length));
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.header("tus-resumable"), "1.0.0");
    reply.header("location").to_owned()
}

/// Sends a part.
fn part(url: &str, offset: usize, body: &[u8]) -> RequestBuilder {
    tus("PATCH", url)
        .header("upload-offset", offset.to_string())
        .header("content-type", "application/offset+octet-stream")
        .body(body.to_vec())
}

/// How far an upload is; None where it isn't there.
fn offset(url: &str) -> Option<usize> {
    let reply = Reply::to(tus("HEAD", url));
    assert!(matches!(reply.status, 200 | 404), "{}", reply.status);
    assert_eq!(reply.header("cache-control"), "no-store, no-transform");
    (reply.status == 200).then(|| reply.header("upload-offset").parse().unwrap())
}
