//! What happens by the clock.

use ledge_core::jobs::{self, Periodic, Step};
use ledge_core::ports::{Db, Host, Platform, Statement, Value};
use ledge_engine_tests::{Drive, Labour, run};

use crate::{claimed, column, fail_to_save, job, nothing, state};

const DAY: i64 = 24 * 60 * 60;

#[test]
fn a_message_that_was_lost_is_sent_again_and_not_while_it_may_be_on_its_way() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        fail_to_save(&drive, &platform).await;
        let job = labour.take().pop().unwrap().job;
        // Periodic jobs may come due meanwhile.
        let sent = || labour.take().iter().filter(|message| message.job == job).count();
        ledge_functions::tick(&platform, None).await;
        assert_eq!(sent(), 0, "it may still come");
        labour.pass_secs(121);
        for messages in [1, 0] {
            ledge_functions::tick(&platform, None).await;
            assert_eq!(sent(), messages);
        }
        labour.pass_secs(121);
        ledge_functions::tick(&platform, None).await;
        labour.settle().await;
        assert_eq!(state(&drive).await, "done");
        assert_eq!(drive.objects().await, Vec::<String>::new());
    });
}

#[test]
fn after_a_start_without_messages_all_that_waits_is_woken() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        job(&platform).await;
        ledge_functions::tick(&platform, Some(0)).await;
        labour.settle().await;
        assert_eq!(state(&drive).await, "done");
    });
}

#[test]
fn a_periodic_job_is_made_once_a_period_and_not_while_the_last_one_runs() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let nightly = [Periodic { work: nothing(), every_secs: DAY, at_secs: 3 * 60 * 60 }];
        let tick = || jobs::tick(&platform, &nightly, None);
        assert_eq!(tick().await.unwrap(), 0, "not at the first sight of it");
        let Value::Integer(due) = column(&drive, "select due_at as it from schedules").await else {
            panic!()
        };
        let now = platform.host().now().0;
        assert_eq!((due - now) / 1000 / DAY, 0);
        assert_eq!(due / 1000 % DAY, 3 * 60 * 60);
        labour.pass_secs((due - now) / 1000 + 1);
        assert_eq!(tick().await.unwrap(), 1);
        assert_eq!(tick().await.unwrap(), 0);
        let message = labour.take().pop().unwrap();

        // The next night comes, and it still runs.
        let working = claimed(&platform, &message.job).await;
        for _ in 0..DAY / 100 {
            labour.pass_secs(100);
            working.heartbeat(&platform, working.progress).await.unwrap();
        }
        assert_eq!(tick().await.unwrap(), 0);
        assert_eq!(column(&drive, "select count(*) as it from jobs").await, Value::Integer(1));
        jobs::leave(&platform, working, Ok(Step::done()), true).await.unwrap();
        assert_eq!(tick().await.unwrap(), 0, "it isn't made up for");
        labour.pass_secs(DAY);
        assert_eq!(tick().await.unwrap(), 1);
    });
}

#[test]
fn what_is_over_is_forgotten_after_a_week_and_what_is_dead_after_a_month() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let done = job(&platform).await;
        ledge_functions::run(&platform, &done).await;
        let dead = job(&platform).await;
        for _ in 0..12 {
            claimed(&platform, &dead).await;
            labour.pass_secs(121);
        }
        ledge_functions::run(&platform, &dead).await;
        let count = async || {
            ledge_functions::tick(&platform, None).await;
            column(&drive, "select count(*) as it from jobs where unique_key is null").await
        };
        for (days, left) in [(6, 2), (2, 1), (21, 1), (2, 0)] {
            labour.pass_secs(days * DAY);
            assert_eq!(count().await, Value::Integer(left), "after {days} more days");
        }
    });
}

#[test]
fn a_tick_sends_so_many_messages_and_takes_one_round_trip() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let many = Statement::new(
            "insert into jobs (id, lane, input, created_at, updated_at)
             select printf('018f0000-0000-7000-8000-%012d', value), 'maintenance', ?1, 1, 1 from json_each(?2)",
        )
        .bind(serde_json::to_string(&nothing()).unwrap())
        .bind(serde_json::to_string(&(0..250).collect::<Vec<_>>()).unwrap());
        drive.ports.db.write(vec![many]).await.unwrap();
        for sent in [100, 100, 50, 0] {
            let counts = ledge_core::wrappers::Counts::default();
            ledge_functions::tick(&ledge_core::wrappers::count(&platform, &counts), None).await;
            assert_eq!((labour.take().len(), counts.round_trips()), (sent, 1));
        }
    });
}
