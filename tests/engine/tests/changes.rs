//! Entity tags of folders and the feed of changes: nothing is missing from them, whoever writes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, run};

#[test]
fn folders_are_made_once_or_not_at_all_whatever_fails() {
    run(async {
        for when in [When::Before, When::After] {
            // Read, commit; what comes after a lost answer has faults of its own.
            for step in 0..2 {
                let drive = Drive::new().await;
                let faults = Faults::at(step, when);
                let make = || drive.request("PUT", "folders/a/b/c?parents=true", b"");
                let answer = drive.send(&fail(drive.plain(), &faults), make()).await;
                let there = drive.column("select name as it from nodes where parent_id <> ''").await.len();
                // A commit whose answer is lost is looked up, and sent again where it didn't happen.
                let expected = if step == 1 { (201, 3) } else { (503, 0) };
                assert_eq!((answer.status, there), expected, "step {step}, {when:?}");
                let again = drive.send(drive.plain(), make()).await;
                assert_eq!(again.status, if step == 1 { 200 } else { 201 });
                if step == 1 {
                    assert_eq!(answer.body, again.body, "the answer that was lost is the right one");
                }
            }
        }
    });
}
