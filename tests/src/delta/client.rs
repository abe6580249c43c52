//! Saves by sending what the space lacks, and reads by fetching what the own copy lacks.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Piece, cut, manifest, packs};
use crate::{Drive, Reply};

const MANIFEST_TYPE: &str = "application/vnd.ledge.manifest+json";

/// What a save took.
#[derive(Debug)]
pub struct Sent {
    /// The last answer.
    pub reply: Reply,
    /// All bytes of all bodies that were sent.
    pub bytes: u64,
    /// How many packs.
    pub packs: u64,
    /// How many (SQL round trips, bucket operations) all requests took.
    pub cost: (u64, u64),
}

/// Saves a file: asks what is missing, sends it, sends the list; and again what is missing by then.
pub fn save(drive: &Drive, path: &str, content: &[u8], if_match: Option<&str>) -> Sent {
    let pieces = cut(content);
    let mut sent = Sent { reply: missing(&pieces), bytes: 0, packs: 0, cost: (0, 0) };
    assert_eq!(sent.reply.status, 200, "{}", String::from_utf8_lossy(&sent.reply.body));
    sent.bytes += 69 * pieces.len() as u64;
    loop {
        sent.cost.0 += sent.reply.cost().0;
        sent.cost.1 += sent.reply.cost().1;
        for pack in packs(content, lacking(&pieces, &sent.reply.json())) {
            sent.bytes += pack.len() as u64;
            sent.packs += 1;
            let reply = send_pack(pack);
            assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.body));
            sent.cost.0 += reply.cost().0;
            sent.cost.1 += reply.cost().1;
        }
        let body = manifest(&pieces).to_string();
        sent.bytes += body.len() as u64;
        let request = drive.request("PUT", path).header("content-type", MANIFEST_TYPE).body(body);
        let conditional = if let Some(etag) = if_match { request.header("if-match", etag) } else { request };
        sent.reply = Reply::to(conditional);
        if sent.reply.status != 409 || sent.reply.json()["code"] != "chunks_missing" {
            sent.cost.0 += sent.reply.cost().0;
            sent.cost.1 += sent.reply.cost().1;
            return sent;
        }
    }
}

/// Asks which chunks the space lacks.
fn missing(pieces: &[Piece]) -> Reply {
    let hashes: Vec<String> = pieces.iter().map(|piece| piece.hash.to_string()).collect();
    let body = json!({ "hashes": hashes }).to_string();
    Reply::to(Drive::in_space("POST", "chunks/missing").body(body))
}

/// Sends a pack.
fn send_pack(pack: Vec<u8>) -> Reply {
    let request = Drive::in_space("POST", "segments").header("content-type", "application/vnd.ledge.pack");
    Reply::to(request.body(pack))
}

/// The chunks that an answer says are missing, each once.
fn lacking<'a>(pieces: &'a [Piece], answer: &Value) -> Vec<&'a Piece> {
    let listed = answer["missing"].as_array().expect("a list");
    let mut missing: HashSet<&str> = listed.iter().filter_map(Value::as_str).collect();
    pieces.iter().filter(|piece| missing.remove(piece.hash.to_string().as_str())).collect()
}

/// What a read took.
#[derive(Debug)]
pub struct Received {
    /// The content.
    pub content: Vec<u8>,
    /// Its entity tag.
    pub etag: String,
    /// How many bytes of content were fetched.
    pub fetched_bytes: u64,
    /// How many bytes the lists of chunks had.
    pub listed_bytes: u64,
}

/// Reads a file of which one has an older copy: only what isn't in that is fetched.
pub fn receive(drive: &Drive, path: &str, own: &[u8]) -> Received {
    let mine: std::collections::HashMap<String, Piece> =
        cut(own).into_iter().map(|piece| (piece.hash.to_string(), piece)).collect();
    let mut received =
        Received { content: Vec::new(), etag: String::new(), fetched_bytes: 0, listed_bytes: 0 };
    let mut from = Some(0);
    while let Some(at) = from {
        let request = drive.request("GET", &format!("{path}?from={at}")).header("accept", MANIFEST_TYPE);
        let reply = Reply::to(request);
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        assert_eq!(reply.header("content-type"), MANIFEST_TYPE);
        let list = reply.json();
        received.listed_bytes += reply.body.len() as u64;
        received.etag = list["etag"].as_str().expect("a tag").to_owned();
        let mut lacking: Option<u64> = None;
        for chunk in list["chunks"].as_array().expect("a list") {
            let length = chunk[1].as_u64().expect("a length");
            match chunk[0].as_str().and_then(|hash| mine.get(hash)) {
                Some(piece) => {
                    fetch(drive, path, &mut received, lacking.take());
                    received.content.extend(&own[piece.range.clone()]);
                }
                None => lacking = Some(lacking.unwrap_or(0) + length),
            }
        }
        fetch(drive, path, &mut received, lacking);
        from = list["next"].as_u64();
    }
    received
}

/// Fetches the next bytes, if the version is still the one that was listed.
fn fetch(drive: &Drive, path: &str, received: &mut Received, length: Option<u64>) {
    let Some(length) = length else { return };
    let start = received.content.len() as u64;
    let range = format!("bytes={start}-{}", start + length - 1);
    let request = drive.request("GET", path).header("range", range).header("if-match", &received.etag);
    let reply = Reply::to(request);
    assert_eq!((reply.status, reply.body.len() as u64), (206, length));
    received.fetched_bytes += length;
    received.content.extend(reply.body);
}
