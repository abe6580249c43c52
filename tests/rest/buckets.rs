//! Another bucket than the default one, which each host has under test: `second`.

use ledge_tests::{Drive, Reply, noise};
use serde_json::json;

fn choose(bucket: &str) -> Reply {
    let url = Drive::absolute(&format!("/api/v1/spaces/{}", Drive::space()));
    Reply::to(Drive::signed("PATCH", &url).body(json!({ "bucket": bucket }).to_string()))
}

#[test]
fn a_space_stores_in_the_bucket_that_was_chosen_and_reads_from_all() {
    let drive = Drive::new();
    let (before, after) = (noise(1, 300_000), noise(2, 300_000));
    assert_eq!(drive.put("before", before.clone()).status, 201);
    let unknown = choose("third");
    unknown.expect_problem(400, "invalid");
    assert_eq!(unknown.json()["field"], "bucket");
    let chosen = choose("second");
    assert_eq!((chosen.status, chosen.json()["bucket"].as_str()), (200, Some("second")));
    assert_eq!(drive.put("after", after.clone()).status, 201);
    assert_eq!(drive.append("before", "and more").status, 200);
    // Other tests share the space; it makes no difference to them.
    let back = choose("default");
    assert_eq!((back.status, back.json()["bucket"].as_str()), (200, Some("default")));
    assert!(drive.get("after").body == after);
    assert!(drive.get("before").body == [before.as_slice(), b"and more"].concat());
    let part = drive.get_with("after", "range", "bytes=1000-1999");
    assert!(part.status == 206 && part.body == after[1000..2000]);
}
