//! One worker a job, and the second fences the first off.

use ledge_core::jobs::{self, Claim, Next, Progress, Step};
use ledge_core::ports::{Db, DbError, Host, Platform, Statement, Value};
use ledge_engine_tests::{Drive, Labour, run};
use ledge_functions::Outcome;
use serde_json::json;

use crate::{claimed, column, job, state};

#[test]
fn a_worker_whose_lease_ran_out_can_change_nothing_any_more() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let id = job(&platform).await;
        let first = claimed(&platform, &id).await;
        assert!(first.heartbeat(&platform, Progress::default()).await.unwrap());
        labour.pass_secs(119);
        assert!(matches!(jobs::claim(&platform, &id).await.unwrap(), Claim::Nothing));
        ledge_functions::tick(&platform, None).await;
        assert_eq!(labour.take(), []);

        // A heartbeat keeps it.
        assert!(first.heartbeat(&platform, Progress { items_done: 3, ..Progress::default() }).await.unwrap());
        labour.pass_secs(119);
        assert!(matches!(jobs::claim(&platform, &id).await.unwrap(), Claim::Nothing));
        labour.pass_secs(2);
        ledge_functions::tick(&platform, None).await;
        assert_eq!(labour.take().iter().filter(|message| message.job == id).count(), 1);
        let second = claimed(&platform, &id).await;
        assert_eq!((second.attempts, second.progress.items_done), (2, 3));

        // The first one comes back.
        let effect = || Statement::new("update spaces set name = 'twice'");
        let refused = platform.db().write(vec![first.guard(), effect()]).await;
        assert_eq!(refused, Err(DbError::Violated("lease_lost".to_owned())));
        assert!(!first.heartbeat(&platform, Progress::default()).await.unwrap());
        let checkpoint = first.checkpoint(&json!(1), Progress::default(), platform.host().now()).unwrap();
        platform.db().write(vec![checkpoint]).await.unwrap();
        for step in [Step::done(), more(0), more(5)] {
            assert_eq!(jobs::leave(&platform, first.clone(), Ok(step), true).await.unwrap(), Next::Nothing);
        }
        let error = ledge_core::error::Error::NotFound;
        assert_eq!(jobs::leave(&platform, first.clone(), Err(error), true).await.unwrap(), Next::Nothing);
        assert_eq!(state(&drive).await, "processing");
        assert_eq!(column(&drive, "select checkpoint as it from jobs").await, Value::Null);

        // The second doesn't notice.
        platform.db().write(vec![second.guard()]).await.unwrap();
        jobs::leave(&platform, second.clone(), Ok(Step::done()), true).await.unwrap();
        assert_eq!(state(&drive).await, "done");
        let late = platform.db().write(vec![second.guard(), effect()]).await;
        assert_eq!(late, Err(DbError::Violated("lease_lost".to_owned())), "it is over");
    });
}

#[test]
fn a_doubled_message_does_nothing() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let id = job(&platform).await;
        let working = claimed(&platform, &id).await;
        assert_eq!(ledge_functions::run(&platform, &id).await, Outcome::Done);
        assert_eq!(state(&drive).await, "processing");
        jobs::leave(&platform, working, Ok(Step::done()), true).await.unwrap();
        assert_eq!(ledge_functions::run(&platform, &id).await, Outcome::Done);
        assert_eq!(column(&drive, "select attempts as it from jobs").await, Value::Integer(1));
        assert_eq!(labour.take(), [], "and sends nobody else");
    });
}

#[test]
fn a_step_goes_on_where_the_last_one_ended() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let id = job(&platform).await;
        let first = claimed(&platform, &id).await;
        assert!(first.checkpoint.is_null());
        let Next::GoOn(second) = jobs::leave(&platform, first, Ok(more(0)), true).await.unwrap() else {
            panic!("there is time left")
        };
        assert_eq!((&second.checkpoint, second.progress.bytes_done), (&json!({ "at": 7 }), 70));
        platform.db().write(vec![second.guard()]).await.unwrap();

        // Out of time: the next message's worker goes on, and it is a first attempt again.
        assert_eq!(jobs::leave(&platform, *second, Ok(more(0)), false).await.unwrap(), Next::Wake(0));
        assert_eq!(state(&drive).await, "pending");
        let third = claimed(&platform, &id).await;
        assert_eq!((third.attempts, &third.checkpoint), (1, &json!({ "at": 7 })));
        assert_eq!(jobs::leave(&platform, third, Ok(more(30)), true).await.unwrap(), Next::Wake(30));
        assert!(matches!(jobs::claim(&platform, &id).await.unwrap(), Claim::NotDue(29..=31)));
        labour.pass_secs(31);
        let last = claimed(&platform, &id).await;
        let done = Step::Done {
            progress: Progress { items_done: 9, ..last.progress },
            result: json!({ "found": 9 }),
        };
        jobs::leave(&platform, last, Ok(done), true).await.unwrap();
        assert_eq!(
            column(&drive, "select result as it from jobs").await,
            Value::Text("{\"found\":9}".to_owned())
        );
        assert_eq!(column(&drive, "select bytes_done as it from jobs").await, Value::Integer(70));
    });
}

#[test]
fn who_never_comes_back_is_given_up_in_the_end() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let id = job(&platform).await;
        for attempt in 1..=12 {
            assert_eq!(claimed(&platform, &id).await.attempts, attempt);
            labour.pass_secs(121);
        }
        assert!(matches!(jobs::claim(&platform, &id).await.unwrap(), Claim::Nothing));
        assert_eq!(state(&drive).await, "dead");
        let Value::Text(error) = column(&drive, "select error as it from jobs").await else {
            panic!("no error")
        };
        assert_eq!(error, "the worker never came back");
    });
}

fn more(after_secs: u32) -> Step {
    let progress = Progress { items_done: 7, items_total: Some(9), bytes_done: 70, bytes_total: None };
    Step::More { progress, checkpoint: json!({ "at": 7 }), after_secs }
}
