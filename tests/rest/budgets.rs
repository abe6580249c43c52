//! What requests may cost: SQL round trips and bucket operations, as docs/ARCHITECTURE.md promises.

use ledge_tests::{Drive, Reply, noise};

#[test]
fn get_head_and_range_take_one_round_trip_and_a_bucket_read_per_extent() {
    let drive = Drive::new();
    assert_eq!(drive.put("small", noise(9001, 4096)).status, 201);
    // Content that no other test has: known chunks would lie elsewhere.
    assert_eq!(drive.put("medium", noise(9002, 3 << 20)).status, 201);
    assert_eq!(drive.get("small").cost(), (1, 0));
    assert_eq!(drive.get("medium").cost(), (1, 1));
    assert_eq!(drive.get_with("medium", "range", "bytes=1000000-2500000").cost(), (1, 1));
    assert_eq!(Reply::to(drive.request("HEAD", "medium")).cost(), (1, 0));
    assert_eq!(drive.get("missing").cost(), (1, 0));
}

#[test]
fn a_put_of_4_kib_takes_two_round_trips_and_no_bucket_operation() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", noise(3, 4096)).cost(), (2, 0));
    assert_eq!(drive.put("a", noise(4, 4096)).cost(), (2, 0));
}

#[test]
fn a_larger_put_takes_one_round_trip_and_one_bucket_operation_more_per_8_mib() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", noise(9005, 5 << 20)).cost(), (3, 1));
    // 40 MiB in buffers of 8 MiB, of which the last chunk is carried over each time: 6.
    let reply = drive.put("b", noise(9006, 40 << 20));
    assert_eq!(reply.cost(), (2 + 6, 6));
    let again = drive.put("c", noise(9006, 40 << 20));
    assert_eq!(again.cost(), (2 + 6, 0), "known content is not stored again");
}
