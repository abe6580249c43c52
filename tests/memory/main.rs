//! Content far larger than memory: the WASM instance holds buffers of what arrives, and nothing of what is read.

#![allow(clippy::expect_used, reason = "test code")]

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_tests::{Drive, Reply, delta, noise};

const MIB: usize = 1 << 20;

/// One upload: two buffers of 8 MiB, and the rest of the program.
const ONE_PUT_BYTES: u64 = 64 << 20;

/// The same natively, where content passes through the program on its way out, too.
const NATIVE_BYTES: u64 = 96 << 20;

/// All uploads of an isolate together: the budget of 64 MiB for buffers, gaps between them, and the rest of the program.
const ALL_PUTS_BYTES: u64 = 80 << 20;

/// Asserts that the server never held more than one upload takes.
fn is_one_puts(what: &str) {
    let (peak, bound) = match Drive::host() {
        host if host.starts_with("local") => (Drive::peak_memory_bytes(), NATIVE_BYTES),
        _ => (Drive::wasm_memory_bytes(), ONE_PUT_BYTES),
    };
    println!("{what}: {peak:?}");
    assert!(peak.is_none_or(|bytes| bytes <= bound), "{what}: {peak:?}");
}

/// 24 MiB over the middle of 256 MiB, across their end, and behind it.
fn writes_in_part(drive: &Drive, mut content: Vec<u8>) {
    let change = noise(257, 24 * MIB);
    for start in [100 * MIB + 7, content.len() - 5] {
        let end = start + change.len();
        let range = format!("bytes {start}-{}/*", end - 1);
        let patch = drive.request("PATCH", "large").header("content-range", range).body(change.clone());
        assert_eq!(Reply::to(patch).status, 204);
        content.resize(content.len().max(end), 0);
        content.splice(start..end, change.iter().copied());
    }
    assert_eq!(drive.append("large", change.clone()).status, 200);
    content.extend(change);
    is_one_puts("writing in part");
    assert!(drive.get("large").body == content, "byte for byte");
}

/// 128 MiB in four parts by tus, and in a folder of two.
fn uploads_in_parts(drive: &Drive) {
    let content = noise(258, 128 * MIB);
    let path = STANDARD.encode(drive.path("tus"));
    let begin = Drive::signed("POST", &Drive::absolute("/api/v1/uploads")).header("tus-resumable", "1.0.0");
    let begin =
        begin.header("upload-length", content.len()).header("upload-metadata", format!("path {path}"));
    let begun = Reply::to(begin);
    assert_eq!(begun.status, 201);
    let url = Drive::absolute(begun.header("location"));
    for (n, part) in content.chunks(32 * MIB).enumerate() {
        let part = Drive::signed("PATCH", &url).header("tus-resumable", "1.0.0").body(part.to_vec());
        let part = part.header("content-type", "application/offset+octet-stream");
        assert_eq!(Reply::to(part.header("upload-offset", n * 32 * MIB)).status, 204);
    }
    is_one_puts("parts by tus");
    assert!(drive.get("tus").body == content, "byte for byte");

    let mut other = content;
    other.reverse();
    let folder = Drive::absolute("/remote.php/dav/uploads/admin/memory");
    assert_eq!(Reply::to(Drive::signed("MKCOL", &folder)).status, 201);
    for (n, part) in other.chunks(64 * MIB).enumerate() {
        let part = Drive::signed("PUT", &format!("{folder}/{n}")).body(part.to_vec());
        assert_eq!(Reply::to(part).status, 201);
    }
    let to = Drive::absolute(&format!("/remote.php/dav/files/admin{}", drive.path("folder")));
    let join = Drive::signed("MOVE", &format!("{folder}/.file")).header("destination", to);
    assert_eq!(Reply::to(join).status, 201);
    is_one_puts("parts in a folder");
    assert!(drive.get("folder").body == other, "byte for byte");
}

/// Four packs of 32 MiB, the longest there are.
fn saves_deltas(drive: &Drive) {
    let content = noise(259, 128 * MIB);
    let sent = delta::save(drive, "delta", &content, None);
    assert_eq!((sent.reply.status, sent.packs >= 4), (201, true));
    is_one_puts("packs");
    assert!(drive.get("delta").body == content, "byte for byte");
}

/// One extent goes from the bucket past the instance, whole or a range of it; several are read by it and written again.
fn passes_by(drive: &Drive, several: &str) {
    let read_by_instance = |name: &str, range: Option<&str>| {
        let request = drive.request("GET", name);
        let (read, passed_on) = (Drive::counted("read_by_instances")?, Drive::counted("passed_on")?);
        let body = Reply::to(match range {
            Some(range) => request.header("range", range),
            None => request,
        });
        let grew = |what, before| Drive::counted(what).map(|now| now - before);
        Some((body.body.len() as u64, grew("read_by_instances", read)?, grew("passed_on", passed_on)?))
    };
    let one = noise(255, 5 * MIB);
    assert_eq!(drive.put("one", one).status, 201);
    let Some(whole) = read_by_instance("one", None) else { return };
    assert_eq!(whole, (5 << 20, 0, 5 << 20));
    assert_eq!(read_by_instance("one", Some("bytes=1000000-1999999")), Some((1_000_000, 0, 1_000_000)));
    let size = 256 << 20;
    assert_eq!(read_by_instance(several, None), Some((size, size, 0)));
}

// One test, because its parts need this order: memory that has grown stays.
#[test]
fn memory_stays_within_its_bounds_whatever_the_size() {
    let drive = Drive::new();
    let content = noise(256, 256 * MIB);
    assert_eq!(drive.put("large", content.clone()).status, 201);
    let after_put = Drive::wasm_memory_bytes();
    assert!(after_put.is_none_or(|bytes| bytes <= ONE_PUT_BYTES), "{after_put:?}");

    let read = drive.get("large");
    assert_eq!(read.header("content-length"), content.len().to_string());
    assert!(read.body == content, "byte for byte");
    let range = format!("bytes={}-", content.len() - 10);
    let tail = Reply::to(drive.request("GET", "large").header("range", range));
    assert_eq!(tail.body, content[content.len() - 10..]);
    assert_eq!(Drive::wasm_memory_bytes(), after_put, "what is read passes by the WASM memory");
    is_one_puts("reading");
    drop(read);
    passes_by(&drive, "large");
    writes_in_part(&drive, content);
    uploads_in_parts(&drive);
    saves_deltas(&drive);

    // Eight at once: who finds no room is told so before the body is read, and comes back.
    let refused = AtomicU32::new(0);
    thread::scope(|scope| {
        for n in 0..8 {
            let (drive, refused) = (&drive, &refused);
            scope.spawn(move || {
                let name = format!("many-{n}");
                let content = noise(1000 + n, 64 * MIB);
                Drive::wait_for("room for the upload", || {
                    let sent = drive.request("PUT", &name).body(content.clone()).send();
                    // workerd may reset the connection of an upload that is refused before its body is read.
                    let Ok(response) = sent else {
                        assert_eq!(Drive::host(), "workerd", "an answer");
                        return None;
                    };
                    let reply = Reply::of(response);
                    if reply.status == 503 {
                        refused.fetch_add(1, Relaxed);
                        reply.expect_problem(503, "busy");
                        let secs = reply.header("retry-after").parse().expect("when to come back");
                        thread::sleep(Duration::from_secs(secs));
                        return None;
                    }
                    assert_eq!(reply.status, 201);
                    Some(())
                });
                assert!(drive.get(&name).body == content, "byte for byte");
            });
        }
    });
    let after_all = Drive::wasm_memory_bytes();
    assert!(after_all.is_none_or(|bytes| bytes <= ALL_PUTS_BYTES), "{after_all:?}");
    // Where memory is limited, nobody ever asked for more: that would have ended all requests of the instance.
    if let Some(outgrown) = Drive::counted("memory_refusals") {
        assert_eq!((outgrown, refused.into_inner() > 0), (0, true), "there is room for two");
    }
}
