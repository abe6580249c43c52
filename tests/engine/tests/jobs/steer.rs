//! People who end jobs, and have them begun again.

use ledge_core::error::Error;
use ledge_core::jobs::{self, Claim, Next, Progress, Step};
use ledge_core::ports::{Db, Host, Platform, Statement, Value};
use ledge_engine_tests::{Drive, Labour, run};
use serde_json::{Value as Json, json};

use crate::{claimed, column, job, json, request, state, write};

#[test]
fn what_is_cancelled_ends_at_once_or_with_its_workers_next_word() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let id = job(&platform).await;
        let cancel = || request(&drive, "POST", &format!("jobs/{id}/cancel"));
        let retry = || request(&drive, "POST", &format!("jobs/{id}/retry"));

        // It waits.
        for _ in 0..2 {
            let answer = drive.send(&platform, cancel()).await;
            assert_eq!((answer.status, json(&answer)["state"].as_str()), (200, Some("cancelled")));
        }
        assert!(matches!(jobs::claim(&platform, &id).await.unwrap(), Claim::Nothing));

        // It is worked on.
        assert_eq!(json(&drive.send(&platform, retry()).await)["state"], "pending");
        assert_eq!(labour.take().len(), 1);
        let working = claimed(&platform, &id).await;
        let answer = json(&drive.send(&platform, cancel()).await);
        assert_eq!((&answer["state"], &answer["cancel_requested"]), (&json!("processing"), &json!(true)));
        assert!(!working.heartbeat(&platform, Progress::default()).await.unwrap());
        platform.db().write(vec![working.guard()]).await.unwrap();
        let more = Step::More { progress: working.progress, checkpoint: json!(5), after_secs: 0 };
        assert_eq!(jobs::leave(&platform, working, Ok(more), true).await.unwrap(), Next::Nothing);
        assert_eq!(state(&drive).await, "cancelled");

        // Begun again, it goes on where it was; and ends even where its worker never comes back.
        assert_eq!(drive.send(&platform, retry()).await.status, 200);
        let working = claimed(&platform, &id).await;
        assert_eq!((working.checkpoint, working.attempts), (json!(5), 1));
        drive.send(&platform, cancel()).await;
        labour.pass_secs(121);
        labour.take();
        ledge_functions::tick(&platform, None).await;
        labour.settle().await;
        assert_eq!(
            (state(&drive).await, column(&drive, "select error as it from jobs").await),
            ("cancelled".to_owned(), Value::Null)
        );

        // What fails after somebody wanted it to end isn't tried again; what is done is done.
        drive.send(&platform, retry()).await;
        let working = claimed(&platform, &id).await;
        drive.send(&platform, cancel()).await;
        jobs::leave(&platform, working, Err(Error::NotFound), true).await.unwrap();
        assert_eq!(state(&drive).await, "cancelled");
        drive.send(&platform, retry()).await;
        let working = claimed(&platform, &id).await;
        drive.send(&platform, cancel()).await;
        jobs::leave(&platform, working, Ok(Step::done()), true).await.unwrap();
        assert_eq!(state(&drive).await, "done");
        for over in [cancel(), retry()] {
            let answer = drive.send(&platform, over).await;
            assert_eq!((answer.status, json(&answer)["code"].as_str()), (409, Some("job_over")));
        }
    });
}

#[test]
fn what_keeps_failing_is_tried_later_and_later_and_given_up_and_somebody_can_begin_it_again() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let id = job(&platform).await;
        write(&drive, "update jobs set input = '{\"kind\":\"of_a_later_release\"}'").await;
        let mut waits = Vec::new();
        ledge_functions::run(&platform, &id).await;
        while let Some(message) = labour.take().pop() {
            assert_eq!(state(&drive).await, "retry");
            let wait = message.due.0 - platform.host().now().0;
            waits.push(wait / 1000);
            assert!(matches!(jobs::claim(&platform, &id).await.unwrap(), Claim::NotDue(_)));
            labour.pass_secs(wait / 1000 + 1);
            ledge_functions::run(&platform, &id).await;
        }
        assert_eq!(waits.len(), 11);
        for (attempt, wait) in waits.iter().enumerate() {
            let most = (10_i64 << attempt).min(3600);
            assert!((most / 2 - 1..=most).contains(wait), "{waits:?}");
        }
        let shown = json(&drive.send(&platform, request(&drive, "GET", &format!("jobs/{id}"))).await);
        assert_eq!(
            (&shown["state"], &shown["attempts"], &shown["due_at"]),
            (&json!("dead"), &json!(12), &Json::Null)
        );
        assert!(shown["error"].as_str().unwrap().contains("not a job of this release"), "{shown}");

        // A later release knows it.
        let known = Statement::new("update jobs set input = ?1")
            .bind(serde_json::to_string(&crate::nothing()).unwrap());
        drive.ports.db.write(vec![known]).await.unwrap();
        let retried = drive.send(&platform, request(&drive, "POST", &format!("jobs/{id}/retry"))).await;
        assert_eq!((retried.status, &json(&retried)["attempts"]), (200, &json!(0)));
        labour.settle().await;
        assert_eq!(state(&drive).await, "done");
        assert_eq!(column(&drive, "select error as it from jobs").await, Value::Null);
    });
}

#[test]
fn what_waits_for_another_attempt_can_be_begun_now() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let id = job(&platform).await;
        let working = claimed(&platform, &id).await;
        let Next::Wake(_) = jobs::leave(&platform, working, Err(Error::Busy), true).await.unwrap() else {
            panic!("it is tried again")
        };
        assert_eq!(
            drive.send(&platform, request(&drive, "POST", &format!("jobs/{id}/retry"))).await.status,
            200
        );
        labour.settle().await;
        assert_eq!(state(&drive).await, "done");
    });
}

#[test]
fn of_jobs_with_one_key_one_is_under_way() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let first = job(&platform).await;
        write(
            &drive,
            "update jobs set unique_key = 'k', state = 'dead', finished_at = 1, forget_at = 1 << 50",
        )
        .await;
        job(&platform).await;
        write(&drive, "update jobs set unique_key = 'k' where state = 'pending'").await;
        let answer = drive.send(&platform, request(&drive, "POST", &format!("jobs/{first}/retry"))).await;
        assert_eq!((answer.status, json(&answer)["code"].as_str()), (409, Some("job_under_way")));
    });
}
