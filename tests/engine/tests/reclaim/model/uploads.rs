//! Requests of uploads in parts, by tus and in Nextcloud's folders. What an upload's client sends stands in its metadata, so
//! that whoever goes on with it sends the right bytes, and the audit knows what must have arrived.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use ledge_engine_tests::{Drive, Random};

use crate::content::CONTENTS;
use crate::world::World;

type Sent = Request<&'static [u8]>;

/// An upload that is open.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) id: String,
    /// How much has arrived.
    pub(super) received: usize,
    /// Whether it is to be joined with others.
    pub(super) is_part: bool,
    /// Which of the contents.
    pub(super) content: usize,
}

const OPEN: &str = "select id || ' ' || received_bytes || ' ' || kind || ' ' || metadata as it from uploads
  where kind <> 'folder' and finished is null and received_bytes is not length_bytes order by id";
/// Parts that are whole.
const WHOLE: &str = "select id as it from uploads
  where kind = 'part' and finished is null and received_bytes = length_bytes order by id";

const FOLDERS: &str =
    "select name || ' ' || parts as it from uploads where kind = 'folder' and finished is null";

/// Those that are under way.
pub(super) async fn open(world: &World) -> Vec<Open> {
    let read = |text: &String| {
        let (id, rest) = text.split_once(' ')?;
        let (received, rest) = rest.split_once(' ')?;
        let (kind, metadata) = rest.split_once(' ')?;
        let received = received.parse().ok()?;
        Some(Open { id: id.to_owned(), received, is_part: kind == "part", content: content(metadata)? })
    };
    world.texts(OPEN).await.iter().filter_map(read).collect()
}

pub(super) async fn whole(world: &World) -> Vec<String> {
    world.texts(WHOLE).await
}

/// How many parts a folder has; None where there is none.
pub(super) async fn parts(world: &World, folder: &str) -> Option<usize> {
    let folders = world.texts(FOLDERS).await;
    let of = |text: &String| text.strip_prefix(folder)?.trim().parse().ok();
    folders.iter().find_map(of)
}

/// Which of the contents an upload's client sends; None where it has been told otherwise.
pub(super) fn content(metadata: &str) -> Option<usize> {
    // On a second line stands what was said of parts.
    let (_, number) = metadata.lines().next()?.split_once("content ")?;
    std::str::from_utf8(&STANDARD.decode(number).ok()?).ok()?.parse().ok()
}

/// All that is to come.
pub(super) fn rest(open: &Open) -> &'static [u8] {
    &CONTENTS[open.content][open.received..]
}

/// What comes next: too little for a segment, or enough, or all of it.
pub(super) fn next(random: &mut Random, open: &Open) -> &'static [u8] {
    let rest = rest(open);
    let length = match random.below(8) {
        0 => 1 + random.below(3000),
        1..4 => 66_000 + random.below(300_000),
        _ => rest.len(),
    };
    &rest[..rest.len().min(length)]
}

fn tus(drive: &Drive, method: &str, url: &str, body: &'static [u8]) -> Sent {
    let mut request = drive.request(method, "", body);
    *request.uri_mut() = url.parse().unwrap();
    request.headers_mut().insert("tus-resumable", "1.0.0".parse().unwrap());
    request
}

fn with(mut request: Sent, name: &'static str, value: &str) -> Sent {
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

fn url(id: &str) -> String {
    format!("/api/v1/uploads/{id}")
}

pub(super) fn begin(drive: &Drive, name: &str, content: usize, is_part: bool) -> Sent {
    let metadata = format!("path {},content {}", STANDARD.encode(name), STANDARD.encode(content.to_string()));
    let request = with(tus(drive, "POST", "/api/v1/uploads", b""), "upload-metadata", &metadata);
    if is_part {
        let length = CONTENTS[content].len().to_string();
        with(with(request, "upload-concat", "partial"), "upload-length", &length)
    } else if content.is_multiple_of(3) {
        // What has arrived is all that is reserved, until the client says more.
        with(request, "upload-defer-length", "1")
    } else {
        with(request, "upload-length", &CONTENTS[content].len().to_string())
    }
}

pub(super) fn part(drive: &Drive, open: &Open, body: &'static [u8]) -> Sent {
    let request = tus(drive, "PATCH", &url(&open.id), body);
    let request = with(request, "content-type", "application/offset+octet-stream");
    let request = with(request, "upload-offset", &open.received.to_string());
    let length = CONTENTS[open.content].len();
    if open.received + body.len() == length {
        return with(request, "upload-length", &length.to_string());
    }
    request
}

pub(super) fn abandon(drive: &Drive, id: &str) -> Sent {
    tus(drive, "DELETE", &url(id), b"")
}

pub(super) fn join(drive: &Drive, parts: &[String], name: &str) -> Sent {
    let urls: Vec<String> = parts.iter().map(|id| url(id)).collect();
    let request = tus(drive, "POST", "/api/v1/uploads", b"");
    let request = with(request, "upload-metadata", &format!("path {}", STANDARD.encode(name)));
    with(request, "upload-concat", &format!("final;{}", urls.join(" ")))
}

fn folder(drive: &Drive, method: &str, path: &str, body: &'static [u8]) -> Sent {
    let mut request = drive.request(method, "", body);
    *request.uri_mut() = format!("/remote.php/dav/uploads/admin/{path}").parse().unwrap();
    request
}

pub(super) fn make_folder(drive: &Drive, name: &str) -> Sent {
    folder(drive, "MKCOL", name, b"")
}

pub(super) fn drop_folder(drive: &Drive, name: &str) -> Sent {
    folder(drive, "DELETE", name, b"")
}

pub(super) fn put_part(drive: &Drive, name: &str, number: usize, body: &'static [u8]) -> Sent {
    folder(drive, "PUT", &format!("{name}/{number}"), body)
}

pub(super) fn join_folder(drive: &Drive, name: &str, to: &str) -> Sent {
    let request = folder(drive, "MOVE", &format!("{name}/.file"), b"");
    with(request, "destination", &format!("/remote.php/dav/files/admin/{to}"))
}
