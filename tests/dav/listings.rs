//! Large folders.

use std::collections::BTreeSet;

use ledge_tests::{Dav, Drive};

/// Rows in a page of a listing.
const PAGE: u64 = 1000;

/// WebAssembly memory that a listing may add, whatever its length: some pages of rows, and nothing of the rest.
const ADDED_BYTES: u64 = 8 << 20;

#[test]
fn g20_ten_thousand_children_are_listed_completely_in_a_round_trip_a_page() {
    list(10_000);
}

#[test]
#[ignore = "takes a minute: cargo xtask test --full"]
fn g20_fifty_thousand_children_are_listed_completely_in_a_round_trip_a_page() {
    list(50_000);
}

fn list(count: u32) {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("seed", "x").status, 201);
    for batch in 0..count / 1000 {
        dav.rest.copies("seed", "d", batch * 1000..(batch + 1) * 1000);
    }
    check(&dav, count);
    // One more than full pages.
    assert_eq!(dav.put("d/one-more", "x").status, 201);
    check(&dav, count + 1);
}

fn check(dav: &Dav, count: u32) {
    let before = Drive::wasm_memory_bytes();
    let reply = dav.request("PROPFIND", "d").header("depth", "1").send();
    let after = Drive::wasm_memory_bytes();
    let listed = reply.multistatus();
    let hrefs: BTreeSet<_> = listed.hrefs().into_iter().collect();
    assert_eq!((listed.responses.len(), hrefs.len()), (count as usize + 1, count as usize + 1), "each once");
    let (sql, bucket) = reply.cost();
    assert!(
        bucket == 0 && sql <= u64::from(count) / PAGE + 2,
        "{sql} round trips, {bucket} bucket operations"
    );
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after <= before + ADDED_BYTES, "{before} bytes became {after}");
    }
}
