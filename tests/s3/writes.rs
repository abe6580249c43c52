//! Writing.

use ledge_tests::{Fault, noise};

use super::{ALWAYS, Harmed, SIZE};

const FAULTS: [Fault; 5] =
    [Fault::Status(500), Fault::Status(503), Fault::Status(429), Fault::Page(502), Fault::LostAnswer];

#[test]
fn a_write_that_always_fails_commits_nothing() {
    let drive = Harmed::new();
    let before = noise(11, SIZE);
    assert_eq!(drive.put("old", &before), 201);
    for (seed, fault) in (20..).zip(FAULTS) {
        let content = noise(seed, SIZE);
        drive.proxy.harm("PUT", fault, ALWAYS);
        assert_eq!(drive.put("new", &content), 503, "{fault:?}");
        assert_eq!(drive.put("old", &content), 503, "{fault:?}");
        assert!(drive.proxy.heal() > 2, "{fault:?} is tried again");
        assert_eq!(drive.get("new").err(), Some(404), "{fault:?}");
        assert!(drive.get("old").as_ref() == Ok(&before), "{fault:?}");
    }
    let after = noise(12, SIZE);
    assert_eq!(drive.put("new", &after), 201);
    assert!(drive.get("new").as_ref() == Ok(&after));
}

#[test]
fn a_write_that_fails_once_succeeds() {
    let drive = Harmed::new();
    for (seed, fault) in (30..).zip(FAULTS) {
        let (name, content) = (format!("file-{seed}"), noise(seed, SIZE));
        drive.proxy.harm("PUT", fault, 1);
        assert_eq!(drive.put(&name, &content), 201, "{fault:?}");
        assert_eq!(drive.proxy.heal(), 1, "{fault:?}");
        assert!(drive.get(&name).as_ref() == Ok(&content), "{fault:?}");
    }
}

#[test]
fn small_files_do_not_need_the_bucket() {
    let drive = Harmed::new();
    drive.proxy.harm("PUT", Fault::Status(503), ALWAYS);
    assert_eq!(drive.put("small", b"a few words"), 201);
    assert_eq!(drive.get("small").as_deref(), Ok(&b"a few words"[..]));
    assert_eq!(drive.proxy.heal(), 0);
}
