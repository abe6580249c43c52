//! Many workers, and messages that are lost, doubled and late: every step's effect is there once.

use ledge_core::ids::JobId;
use ledge_core::jobs::{self, Claim, Claimed, Next, Progress, Step};
use ledge_core::ports::{Db, DbError, Host, Platform, Statement, Value};
use ledge_engine_tests::{Drive, Labour, Labouring, Random, run};
use serde_json::json;

use crate::{job, state, write};

/// What the job has to do.
const STEPS: u64 = 6;
/// So many orders of events are tried.
const SCHEDULES: u64 = 150;

/// A worker in the middle of its step.
struct Worker {
    job: Claimed,
    /// Whether the step's commit has been sent.
    committed: bool,
}

#[test]
fn in_any_order_of_events_every_step_of_a_job_takes_effect_once() {
    run(async {
        let (mut overtaken, mut lost) = (0, 0);
        let drive = Drive::new().await;
        write(&drive, "create table effects (step integer not null)").await;
        for seed in 0..SCHEDULES {
            write(&drive, "delete from effects").await;
            write(&drive, "delete from jobs").await;
            let labour = Labour::new(drive.plain());
            let platform = labour.platform();
            let id = job(&platform).await;
            let (refused, dropped) = schedule(&platform, &labour, &id, Random::new(seed)).await;
            overtaken += refused;
            lost += dropped;
            assert_eq!(state(&drive).await, "done", "seed {seed}");
            let effects = drive.column("select step as it from effects order by rowid").await;
            let wanted: Vec<Value> = (0..STEPS).map(|step| Value::Integer(step as i64)).collect();
            assert_eq!(effects, wanted, "seed {seed}");
        }
        assert!(
            overtaken > 20 && lost > 20,
            "the schedules are too tame: {overtaken} overtaken, {lost} lost"
        );
    });
}

/// Lets events happen until the job is over. How many commits were refused because the worker had been overtaken, and how
/// many messages were lost.
async fn schedule(
    platform: &Labouring<'_>,
    labour: &Labour<'_>,
    id: &JobId,
    mut random: Random,
) -> (u32, u32) {
    let mut workers: Vec<Worker> = Vec::new();
    let (mut refused, mut lost) = (0, 0);
    for event in 0.. {
        assert!(event < 5000, "it never ends");
        match random.below(8) {
            // A message, of which there may be more than one.
            0 | 1 => {
                if let Claim::Job(job) = jobs::claim(platform, id).await.unwrap() {
                    workers.push(Worker { job: *job, committed: false });
                }
            }
            2..=4 if !workers.is_empty() => {
                let at = random.below(workers.len());
                let Worker { job, committed } = workers.swap_remove(at);
                if !committed && !random.one_in(8) {
                    refused += u32::from(!commit(platform, &job).await);
                    workers.push(Worker { job, committed: true });
                } else if let Next::GoOn(job) = leave(platform, job, committed, random.one_in(2)).await {
                    workers.push(Worker { job: *job, committed: false });
                }
            }
            // A worker is killed.
            5 if !workers.is_empty() => drop(workers.swap_remove(random.below(workers.len()))),
            6 => labour.pass_secs([1, 125][random.below(2)]),
            _ => {
                lost += u32::try_from(labour.take().len()).unwrap();
                ledge_functions::tick(platform, None).await;
            }
        }
        let over = Statement::new("select 1 from jobs where finished_at is not null");
        if !platform.db().read(vec![over]).await.unwrap()[0].is_empty() {
            // Whoever still believes in having it finds out.
            for worker in workers {
                assert!(worker.committed || !commit(platform, &worker.job).await);
            }
            break;
        }
    }
    (refused, lost)
}

/// The step's effect. False where another worker has the job.
async fn commit(platform: &Labouring<'_>, job: &Claimed) -> bool {
    let at = job.checkpoint.as_u64().unwrap_or(0);
    let now = platform.host().now();
    let effect = Statement::new("insert into effects (step) select ?1 where ?1 < ?2").bind(at).bind(STEPS);
    let checkpoint = job.checkpoint(&json!(at + 1), Progress::default(), now).unwrap();
    match platform.db().write(vec![job.guard(), effect, checkpoint]).await {
        Ok(_) => true,
        Err(DbError::Violated(why)) => {
            assert_eq!(why, "lease_lost");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

async fn leave(platform: &Labouring<'_>, job: Claimed, committed: bool, time_left: bool) -> Next {
    let at = job.checkpoint.as_u64().unwrap_or(0);
    let step = if !committed {
        Err(ledge_core::error::Error::Busy)
    } else if at + 1 >= STEPS {
        Ok(Step::done())
    } else {
        Ok(Step::More { progress: Progress::default(), checkpoint: json!(at + 1), after_secs: 0 })
    };
    jobs::leave(platform, job, step, time_left).await.unwrap()
}
