//! What uploads hold of the quota. Other tests share the space: each looks at a difference that only it can make.

use ledge_tests::{Drive, Reply, noise};

use super::{begun, offset, part, tus};

#[test]
fn a_reservation_goes_with_the_upload() {
    let drive = Drive::new();
    // So much that what others reserve meanwhile doesn't matter.
    const HELD: u64 = 1 << 42;
    let reserved = || {
        let space = Drive::absolute(&format!("/api/v1/spaces/{}", Drive::space()));
        let space = Reply::to(Drive::signed("GET", &space));
        space.json()["reserved_bytes"].as_u64().unwrap() / HELD
    };
    let before = reserved();
    let url = begun(&drive, "held", usize::try_from(HELD).unwrap());
    assert_eq!(reserved(), before + 1);
    assert_eq!(Reply::to(part(&url, 0, &noise(1, 100_000))).status, 204);
    assert_eq!((reserved(), offset(&url)), (before + 1, Some(100_000)));
    assert_eq!(Reply::to(tus("DELETE", &url)).status, 204);
    assert_eq!(reserved(), before);
}
