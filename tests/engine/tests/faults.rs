//! Whatever fails, whenever: the old content reads whole, or the new one does, and nothing is lost from sight.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::pin::pin;

use futures::future::{Either, select};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, noise, run};

/// Two saves: the second shares chunks with the first, and stores three segments of its own.
fn contents() -> (&'static [u8], &'static [u8]) {
    let old = noise(1, 10 << 20);
    let mut new = old.clone();
    new.extend(noise(2, 17 << 20));
    (old.leak(), new.leak())
}

#[test]
fn a_failure_at_any_step_leaves_the_old_content_or_the_new() {
    let (old, new) = contents();
    run(async {
        let steps = steps(old, new).await;
        assert!(steps >= 8, "{steps} steps");
        for step in 0..steps {
            for when in [When::Before, When::After] {
                let drive = Drive::new().await;
                assert_eq!(drive.put("a", old).await.status, 201);
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let status = drive.send(&platform, drive.request("PUT", "files/a", new)).await.status;
                let read = drive.get("a").await.body;
                let at = format!("step {step}, {when:?}: {status}");
                match status {
                    204 => assert!(read == new, "{at}"),
                    503 => assert!(read == old, "{at}"),
                    _ => panic!("{at}"),
                }
                assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "{at}");
                // Trying again is all that it takes.
                assert_eq!(drive.put("a", new).await.status, 204, "{at}");
                assert!(drive.get("a").await.body == new, "{at}");
            }
        }
    });
}

#[test]
fn a_process_that_dies_at_any_step_leaves_the_old_content_or_the_new() {
    let (old, new) = contents();
    run(async {
        for step in 0..steps(old, new).await {
            for when in [When::DiesBefore, When::DiesAfter] {
                let drive = Drive::new().await;
                assert_eq!(drive.put("a", old).await.status, 201);
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let save = pin!(drive.send(&platform, drive.request("PUT", "files/a", new)));
                let died = matches!(select(save, pin!(faults.death())).await, Either::Right(_));
                assert!(died, "step {step} is on the way");
                let read = drive.get("a").await.body;
                assert!(read == old || read == new, "step {step}, {when:?}");
                assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "step {step}, {when:?}");
                assert_eq!(drive.put("a", new).await.status, 204);
                assert!(drive.get("a").await.body == new);
            }
        }
    });
}

#[test]
fn a_failing_database_or_bucket_is_503_and_never_a_missing_file() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("a", b"small").await.status, 201);
        let faults = Faults::at(0, When::Before);
        let answer = drive.send(&fail(drive.plain(), &faults), drive.request("GET", "files/a", b"")).await;
        assert_eq!(answer.status, 503);
        let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(problem["code"], "unavailable");
        assert!(!problem["detail"].as_str().unwrap().contains("injected"), "the cause is for the log");
    });
}

#[test]
fn a_segment_is_put_once_more_when_the_bucket_fails() {
    run(async {
        let content: &'static [u8] = noise(3, 300_000).leak();
        for when in [When::Before, When::After] {
            let drive = Drive::new().await;
            // The target, the chunks that are known, the segment, the commit.
            let faults = Faults::at(2, when);
            let put = drive.request("PUT", "files/a", content);
            assert_eq!(drive.send(&fail(drive.plain(), &faults), put).await.status, 201, "{when:?}");
            assert_eq!(faults.calls(), 5, "one more than without the failure");
            assert!(drive.get("a").await.body == content);
            assert_eq!(drive.objects().await.len(), 1);
            assert_eq!(drive.lost_objects().await, Vec::<String>::new());
        }
    });
}

/// How many calls of the ports the second save makes.
async fn steps(old: &'static [u8], new: &'static [u8]) -> u32 {
    let drive = Drive::new().await;
    assert_eq!(drive.put("a", old).await.status, 201);
    let faults = Faults::default();
    let saved = drive.send(&fail(drive.plain(), &faults), drive.request("PUT", "files/a", new)).await;
    assert_eq!(saved.status, 204);
    faults.calls()
}
