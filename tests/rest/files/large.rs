//! Content far larger than memory.

use ledge_tests::{Drive, Reply, noise};

const SIZE: usize = 256 << 20;
/// What a PUT may need: two buffers of 8 MiB, and the rest of the program.
const PUT_MEMORY_BYTES: u64 = 64 << 20;

#[test]
fn of_256_mib_not_a_byte_is_lost_and_memory_stays_flat() {
    let drive = Drive::new();
    let content = noise(256, SIZE);
    assert_eq!(drive.put("large", content.clone()).status, 201);
    let after_put = Drive::wasm_memory_bytes();
    assert!(after_put.is_none_or(|bytes| bytes <= PUT_MEMORY_BYTES), "{after_put:?}");

    let read = drive.get("large");
    assert_eq!(read.header("content-length"), SIZE.to_string());
    assert!(read.body == content);
    assert_eq!(Drive::wasm_memory_bytes(), after_put, "content passes by the WASM memory");

    let range = Reply::to(drive.request("GET", "large").header("range", format!("bytes={}-", SIZE - 10)));
    assert_eq!(range.body, content[SIZE - 10..]);
}
