//! A gibibyte: too long for everyday, run by `cargo xtask test --full`.

use std::thread;

use ledge_tests::{Drive, delta, noise};

const MIB: usize = 1 << 20;

#[test]
#[ignore = "takes minutes: cargo xtask test --full"]
fn a_gibibyte_comes_back_and_small_changes_store_little() {
    let drive = Drive::new();
    let mut content = noise(1, 1024 * MIB);
    assert_eq!(drive.put("huge", content.clone()).status, 201);
    check(&drive, &content);

    for (n, at) in [(2, 0), (3, 512 * MIB), (4, 1023 * MIB)] {
        content.splice(at..at + MIB, noise(n, MIB));
        save_again(&drive, &content);
    }
    content.splice(300 * MIB..300 * MIB, noise(5, 4096));
    save_again(&drive, &content);
}

fn save_again(drive: &Drive, content: &[u8]) {
    let saved = drive.put("huge", content.to_vec());
    assert_eq!(saved.status, 204);
    assert!(saved.stored_bytes() < 8 << 20, "{} bytes were stored", saved.stored_bytes());
    check(drive, content);
}

fn check(drive: &Drive, content: &[u8]) {
    assert!(drive.get("huge").body == content, "byte for byte");
    let memory = Drive::wasm_memory_bytes();
    assert!(memory.is_none_or(|bytes| bytes <= 64 << 20), "{memory:?}");
}

#[test]
#[ignore = "takes minutes: cargo xtask test --full"]
fn ten_thousand_appends_of_eight_clients_lose_no_line() {
    let drive = Drive::new();
    assert_eq!(drive.put("log", "").status, 201);
    let lines = 10_000 / 8;
    thread::scope(|scope| {
        for client in 0..8 {
            let drive = &drive;
            scope.spawn(move || {
                for n in 0..lines {
                    assert_eq!(drive.append("log", format!("client {client} line {n}\n")).status, 200);
                }
            });
        }
    });
    let text = String::from_utf8(drive.get("log").body).expect("text");
    assert_eq!(text.lines().count(), 8 * lines);
    for client in 0..8 {
        let own = text.lines().filter(|line| line.starts_with(&format!("client {client} ")));
        assert!(own.eq((0..lines).map(|n| format!("client {client} line {n}"))), "in its order");
    }
    // One for each minute that it took, and no more than a space keeps.
    assert!(drive.versions("log").len() <= 100);
}

#[test]
#[ignore = "takes minutes: cargo xtask test --full"]
fn a_mebibyte_changed_in_a_gibibyte_sends_less_than_8() {
    let drive = Drive::new();
    let mut content = noise(9, 1024 * MIB);
    assert_eq!(delta::save(&drive, "huge", &content, None).reply.status, 201);
    let older = content.clone();
    content.splice(700 * MIB..701 * MIB, noise(10, MIB));
    let changed = delta::save(&drive, "huge", &content, None);
    assert_eq!(changed.reply.status, 204);
    assert!(changed.bytes < 8 << 20, "{} bytes were sent", changed.bytes);
    check(&drive, &content);
    let read = delta::receive(&drive, "huge", &older);
    assert!(read.content == content, "byte for byte");
    assert!(read.fetched_bytes < 8 << 20, "{} bytes were fetched", read.fetched_bytes);
}
