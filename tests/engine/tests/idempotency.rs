//! Requests with an `Idempotency-Key`: done once, whatever fails and however many come at once.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::pin::pin;

use futures::future::{Either, join_all, select};
use http::Request;
use ledge_core::ports::{Db, Statement, Value};
use ledge_core::wrappers::{Counts, Faults, When, count, fail};
use ledge_engine_tests::{Drive, run};

const COPY: &[u8] =
    br#"{"operations": [{"op": "copy", "path": "/a", "to": {"name": "a"}, "conflict": "rename"}]}"#;

fn copy(drive: &Drive, key: &str) -> Request<&'static [u8]> {
    with_key(drive.request("POST", "nodes/batch", COPY), key)
}

fn with_key(mut request: Request<&'static [u8]>, key: &str) -> Request<&'static [u8]> {
    request.headers_mut().insert("idempotency-key", key.parse().unwrap());
    request
}

async fn drive() -> Drive {
    let drive = Drive::new().await;
    assert_eq!(drive.put("a", b"content").await.status, 201);
    drive
}

async fn files(drive: &Drive) -> Value {
    drive.column("select count(*) as it from nodes where kind = 'file'").await.remove(0)
}

#[test]
fn a_failure_at_any_step_and_a_second_try_make_one_copy() {
    run(async {
        let faults = Faults::default();
        let first = drive().await;
        let answer = first.send(&fail(first.plain(), &faults), copy(&first, "k")).await;
        assert_eq!(
            (answer.status, faults.calls()),
            (200, 3),
            "two reads, since a name has to be found, and a write"
        );
        for step in 0..faults.calls() {
            for when in [When::Before, When::After] {
                let drive = drive().await;
                let faults = Faults::at(step, when);
                let failed = drive.send(&fail(drive.plain(), &faults), copy(&drive, "k")).await;
                let again = drive.send(drive.plain(), copy(&drive, "k")).await;
                assert_eq!(again.status, 200, "step {step}, {when:?}");
                assert_eq!(files(&drive).await, Value::Integer(2), "step {step}, {when:?}");
                match failed.status {
                    200 => assert_eq!(failed.body, again.body),
                    503 => {}
                    status => panic!("step {step}, {when:?}: {status}"),
                }
            }
        }
    });
}

#[test]
fn a_process_that_dies_at_any_step_and_a_second_try_make_one_copy() {
    run(async {
        for step in 0..3 {
            for when in [When::DiesBefore, When::DiesAfter] {
                let drive = drive().await;
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let request = pin!(drive.send(&platform, copy(&drive, "k")));
                assert!(matches!(select(request, pin!(faults.death())).await, Either::Right(_)));
                let again = drive.send(drive.plain(), copy(&drive, "k")).await;
                assert_eq!(again.status, 200, "step {step}, {when:?}");
                assert_eq!(files(&drive).await, Value::Integer(2), "step {step}, {when:?}");
            }
        }
    });
}

#[test]
fn of_twenty_at_once_one_is_done_and_all_have_its_answer() {
    run(async {
        let drive = drive().await;
        let all = join_all((0..20).map(|_| drive.send(drive.plain(), copy(&drive, "k")))).await;
        for answer in &all {
            assert_eq!((answer.status, &answer.body), (200, &all[0].body));
        }
        assert_eq!(files(&drive).await, Value::Integer(2));

        // Without a key in common, each is done.
        let keys: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let each = join_all(keys.iter().map(|key| drive.send(drive.plain(), copy(&drive, key)))).await;
        assert!(each.iter().all(|answer| answer.status == 200));
        assert_eq!(files(&drive).await, Value::Integer(22));
    });
}

#[test]
fn a_token_whose_answer_was_lost_on_the_way_to_us_is_shown_but_never_a_second_time() {
    run(async {
        for when in [When::Before, When::After] {
            let drive = Drive::new().await;
            let tokens = || {
                let mut request = drive.request("POST", "", br#"{"name": "laptop"}"#);
                *request.uri_mut() = "/api/v1/tokens".parse().unwrap();
                with_key(request, "k")
            };
            let faults = Faults::at(1, when);
            let made = drive.send(&fail(drive.plain(), &faults), tokens()).await;
            assert_eq!(made.status, 201, "{when:?}");
            let made: serde_json::Value = serde_json::from_slice(&made.body).unwrap();
            let again = drive.send(drive.plain(), tokens()).await;
            assert_eq!(again.status, 409);
            let problem: serde_json::Value = serde_json::from_slice(&again.body).unwrap();
            assert_eq!(problem["code"], "secret_shown_once");
            assert_eq!(drive.column("select count(*) as it from tokens").await, [Value::Integer(2)]);
            let Value::Text(kept) =
                drive.column("select answer as it from idempotent_answers").await.remove(0)
            else {
                panic!("an answer is kept")
            };
            assert!(!kept.contains(made["token"].as_str().unwrap()) && !kept.contains("ldg_"), "{kept}");
        }
    });
}

#[test]
fn an_answer_is_kept_for_a_day_and_swept_by_later_ones_with_no_round_trip_of_its_own() {
    run(async {
        let drive = drive().await;
        for n in 0..120 {
            let name: &'static str = format!("old {n}").leak();
            assert_eq!(
                drive.send(drive.plain(), copy(&drive, name.replace(' ', "-").as_str())).await.status,
                200
            );
        }
        let old = Statement::new("update idempotent_answers set expires_at = 1");
        drive.ports.db.write(vec![old]).await.unwrap();

        let counts = Counts::default();
        let counted = count(drive.plain(), &counts);
        let restored = drive.send(&counted, copy(&drive, "old-0")).await;
        assert_eq!(restored.status, 200);
        assert_eq!(counts.round_trips(), 3, "as without a key");
        assert_eq!(files(&drive).await, Value::Integer(122), "what is too old doesn't count");
        let left = drive.column("select count(*) as it from idempotent_answers").await;
        assert_eq!(left, [Value::Integer(120 - 101 + 1)], "its own, and a hundred others, have gone");

        let counts = Counts::default();
        let counted = count(drive.plain(), &counts);
        assert_eq!(drive.send(&counted, copy(&drive, "old-0")).await.body, restored.body);
        assert_eq!(counts.round_trips(), 1);
    });
}
