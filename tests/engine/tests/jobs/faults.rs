//! Whatever fails, whenever, and wherever the worker dies: the job is done in the end, and no more than it.

use std::pin::pin;

use futures::future::{Either, select};
use ledge_core::ports::Value;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, Labour, run};

use crate::{column, fail_to_save, state};

const STEPS: u32 = 7;

#[test]
fn a_job_is_done_whatever_fails_and_wherever_its_worker_dies() {
    run(async {
        for call in 0..STEPS {
            for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
                let at = format!("call {call}, {when:?}");
                let drive = Drive::new().await;
                let labour = Labour::new(drive.plain());
                let platform = labour.platform();
                assert_eq!(fail_to_save(&drive, &platform).await.status, 400, "{at}");
                assert_eq!(drive.objects().await.len(), 1, "{at}");
                let job = labour.take().pop().unwrap().job;
                let faults = Faults::at(call, when);
                {
                    let failing = fail(&platform, &faults);
                    let worker = pin!(ledge_functions::run(&failing, &job));
                    let died = matches!(select(worker, pin!(faults.death())).await, Either::Right(_));
                    assert_eq!(died, matches!(when, When::DiesBefore | When::DiesAfter), "{at}");
                }
                // Whatever message should come now is lost, too.
                labour.take();
                labour.pass_secs(600);
                ledge_functions::tick(&platform, None).await;
                labour.settle().await;
                assert_eq!(state(&drive).await, "done", "{at}");
                assert_eq!(drive.objects().await, Vec::<String>::new(), "{at}");
                assert_eq!(
                    column(&drive, "select count(*) as it from ingests").await,
                    Value::Integer(0),
                    "{at}"
                );
            }
        }
    });
}

#[test]
fn a_job_takes_so_many_calls() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        fail_to_save(&drive, &platform).await;
        let job = labour.take().pop().unwrap().job;
        let faults = Faults::default();
        ledge_functions::run(&fail(&platform, &faults), &job).await;
        assert_eq!(faults.calls(), STEPS);
    });
}
