//! A gibibyte: too long for everyday, run by `cargo xtask test --full`.

use ledge_tests::{Drive, noise};

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
