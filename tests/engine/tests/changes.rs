//! Entity tags of folders and the feed of changes: nothing is missing from them, whoever writes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use futures::future::join;
use ledge_core::ports::{Db, Statement, Value};
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

async fn get(drive: &Drive, path: &str) -> (u16, serde_json::Value) {
    let answer = drive.send(drive.plain(), drive.request("GET", path, b"")).await;
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

#[test]
fn whoever_waits_is_told_of_what_comes_later_and_of_nothing_else() {
    run(async {
        let drive = Drive::new().await;
        let (_, page) = get(&drive, "changes").await;
        let cursor = page["cursor"].as_str().unwrap().to_owned();
        let (status, page) = get(&drive, &format!("changes?since={cursor}&wait=1")).await;
        assert_eq!((status, &page["changes"]), (200, &serde_json::json!([])));
        assert_eq!((&page["more"], page["cursor"].as_str()), (&false.into(), Some(cursor.as_str())));

        // The one that waits is polled first: it has found nothing when the file is saved.
        let waits = format!("changes?since={cursor}&wait=25");
        let waiting = get(&drive, &waits);
        let ((status, page), saved) = join(waiting, drive.put("a", b"a")).await;
        assert_eq!((status, saved.status), (200, 201));
        assert_eq!(page["changes"][0]["node"]["name"], "a");
    });
}

#[test]
fn changes_that_are_too_old_go_a_few_at_a_time_and_a_cursor_before_them_is_refused() {
    run(async {
        let drive = Drive::new().await;
        let (_, page) = get(&drive, "changes").await;
        let first = page["cursor"].as_str().unwrap().to_owned();
        for _ in 0..40 {
            assert!(drive.put("a", b"a").await.status < 300);
        }
        let (_, page) = get(&drive, &format!("changes?since={first}&limit=30")).await;
        let thirtieth = page["cursor"].as_str().unwrap().to_owned();
        let sql = |sql: &'static str| drive.ports.db.write(vec![Statement::new(sql)]);
        sql("update changes set at = 0 where seq <= 35").await.unwrap();
        let kept = async || drive.column("select count(*) as it from changes").await;
        // One row more, and those of 18 that are too old are gone.
        for left in [40 + 1 - 18, 40 + 2 - 35, 40 + 3 - 35] {
            assert!(drive.put("a", b"a").await.status < 300);
            assert_eq!(kept().await, [Value::Integer(left)]);
        }
        for cursor in [first, thirtieth] {
            let (status, problem) = get(&drive, &format!("changes?since={cursor}")).await;
            assert_eq!((status, problem["code"].as_str()), (410, Some("resync")));
        }
        let (_, page) = get(&drive, "changes").await;
        let last = page["cursor"].as_str().unwrap();
        assert!(drive.put("b", b"b").await.status < 300);
        let (status, page) = get(&drive, &format!("changes?since={last}")).await;
        assert_eq!((status, page["changes"].as_array().unwrap().len()), (200, 1));

        // So many commits are kept, however young.
        sql("update spaces set change_seq = change_seq + 100000").await.unwrap();
        assert!(drive.put("b", b"b").await.status < 300);
        assert_eq!(kept().await, [Value::Integer(1)]);
    });
}
