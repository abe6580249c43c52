//! Thousands of schedules: whoever works on a drive, in any order of their calls, with a clock that jumps.
//!
//! Up to four work at once: saves, also refused ones, copies, deletions, purges, restores, expiry of versions and trash,
//! sweeps with repacks, full passes, the discard of failed uploads, and readers. A seed decides whose next batch or
//! bucket operation takes effect, which fail before or after it, who dies, and which call of a dead one arrives late.
//! After each change [`audit`] holds the bucket against the database. At the end everybody comes to rest, the grace time
//! passes, and nothing may be left but what is needed.
//!
//! What is taken for granted of the world, and what the clock keeps to: a put arrives within ten minutes of being sent,
//! or never; a sweep's or a repack's batch runs within a minute, or never. Everything else may be arbitrarily late.
//!
//! A further kind of request is a line in [`operation::Operation::random`] and its request.
//! `LEDGE_TEST_SEED` runs one seed alone, and tells what happens.

mod audit;
mod operation;
mod schedule;
mod statistics;

use ledge_engine_tests::run;

use schedule::Schedule;
use statistics::Statistics;

/// Runs the seeds; each is a drive of its own.
fn schedules(seeds: std::ops::Range<u64>) -> Statistics {
    let mut statistics = Statistics::default();
    for seed in seeds {
        if seed % 100 == 0 {
            println!("seed {seed}");
        }
        run(async {
            Schedule::play(seed, &mut statistics).await;
        });
    }
    statistics
}

fn everyday(seeds: std::ops::Range<u64>) {
    let one: Option<u64> = std::env::var("LEDGE_TEST_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let Some(seed) = one else {
        let statistics = schedules(seeds);
        println!("{statistics:?}");
        statistics.assert_much_has_happened();
        return;
    };
    if seeds.contains(&seed) {
        println!("{:?}", schedules(seed..seed + 1));
    }
}

// Halves, which run beside each other.
#[test]
fn nothing_that_is_needed_goes_and_nothing_else_stays() {
    everyday(0..1000);
}

#[test]
fn nothing_that_is_needed_goes_and_nothing_else_stays_2() {
    everyday(1000..2000);
}

#[test]
#[ignore = "takes minutes: cargo xtask test --full"]
fn nothing_that_is_needed_goes_and_nothing_else_stays_in_many_more_schedules() {
    everyday(2000..20_000);
}
