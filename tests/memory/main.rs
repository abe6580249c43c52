//! Content far larger than memory: the WASM instance holds buffers of what arrives, and nothing of what is read.

#![allow(clippy::expect_used, reason = "test code")]

use std::thread;
use std::time::Duration;

use ledge_tests::{Drive, Reply, noise};

const MIB: usize = 1 << 20;

/// One upload: two buffers of 8 MiB, and the rest of the program.
const ONE_PUT_BYTES: u64 = 64 << 20;

/// All uploads of an isolate together: the budget of 64 MiB for buffers, gaps between them, and the rest of the program.
const ALL_PUTS_BYTES: u64 = 80 << 20;

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
    drop((content, read));

    // Eight at once: who finds no room is told so before the body is read, and comes back.
    thread::scope(|scope| {
        for n in 0..8 {
            let drive = &drive;
            scope.spawn(move || {
                let name = format!("many-{n}");
                let content = noise(1000 + n, 64 * MIB);
                Drive::wait_for("room for the upload", || {
                    let reply = drive.put(&name, content.clone());
                    if reply.status == 503 {
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
}
