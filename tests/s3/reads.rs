//! Reading.

use ledge_tests::{Drive, Fault, Reply, noise};

use super::{ALWAYS, Harmed, SIZE};

const FAULTS: [Fault; 10] = [
    Fault::Status(500),
    Fault::Status(503),
    Fault::Status(429),
    Fault::Page(502),
    Fault::LostAnswer,
    Fault::Cut,
    Fault::ShorterLength,
    Fault::LongerLength,
    Fault::ShorterRange,
    Fault::HalfInChunks,
];

#[test]
fn a_read_that_always_fails_is_never_a_short_200() {
    let drive = Harmed::new();
    let content = noise(1, SIZE);
    assert_eq!(drive.put("a", &content), 201);
    for fault in FAULTS {
        drive.proxy.harm("GET", fault, ALWAYS);
        let read = drive.get("a");
        assert!(drive.proxy.heal() > 1, "{fault:?} is tried again");
        match fault {
            // The head was right, so it was sent on: the body breaks off, or could be completed from where it did.
            Fault::Cut => assert!(read == Err(0) || read.as_ref() == Ok(&content)),
            _ => assert_eq!(read.err(), Some(503), "{fault:?}"),
        }
        assert!(drive.get("a").as_ref() == Ok(&content), "after {fault:?}");
    }
}

#[test]
fn a_read_that_fails_once_is_right_all_the_same() {
    let drive = Harmed::new();
    let content = noise(2, SIZE);
    assert_eq!(drive.put("a", &content), 201);
    for fault in FAULTS {
        drive.proxy.harm("GET", fault, 1);
        assert!(drive.get("a").as_ref() == Ok(&content), "{fault:?}");
        assert_eq!(drive.proxy.heal(), 1, "{fault:?}");
    }
}

#[test]
fn a_body_that_breaks_off_goes_on_where_it_was() {
    let drive = Harmed::new();
    let content = noise(3, SIZE);
    assert_eq!(drive.put("a", &content), 201);
    // The rest is halved each time.
    drive.proxy.harm("GET", Fault::Cut, 3);
    assert!(drive.get("a").as_ref() == Ok(&content));
    assert_eq!(drive.proxy.heal(), 3);
}

#[test]
fn a_store_that_says_nothing_is_asked_again() {
    let drive = Harmed::new();
    let content = noise(4, SIZE);
    assert_eq!(drive.put("a", &content), 201);
    drive.proxy.harm("GET", Fault::Silence, 1);
    assert!(drive.get("a").as_ref() == Ok(&content));
    assert_eq!(drive.proxy.heal(), 1);
}

#[test]
fn half_a_list_is_no_list() {
    let drive = Harmed::new();
    assert_eq!(drive.put("a", &noise(5, SIZE)), 201);
    for fault in [Fault::Cut, Fault::ShorterLength, Fault::HalfInChunks] {
        drive.proxy.harm("GET", fault, 2);
        let asked = Reply::to(drive.server.request("POST", "/api/v1/admin/doctor"));
        assert_eq!(asked.status, 202);
        // The examination compares lists with rows: with half a list, objects would be missing.
        let report = Drive::wait_for("the examination", || {
            let id = asked.json()["id"].as_str().unwrap().to_owned();
            let job = Reply::to(drive.server.request("GET", &format!("/api/v1/jobs/{id}"))).json();
            (!job["finished_at"].is_null()).then_some(job)
        });
        assert_eq!(report["result"]["faults"], 0, "{fault:?}: {report}");
        assert_eq!(drive.proxy.heal(), 2, "{fault:?}");
    }
}
