//! Thousands of schedules: whoever works on a drive, in any order of their calls, with a clock that jumps.
//!
//! Up to four work at once: saves, also refused ones, copies, deletions, purges, restores, expiry of versions and trash;
//! uploads in parts, by tus and in folders, which are finished, joined, abandoned, or expire; questions for chunks, packs
//! of them, and lists; appends, patches and joins of files; sweeps with repacks, full passes, the discard of failed
//! uploads, and readers. A seed decides whose next batch or bucket operation takes effect, which fail before or after it,
//! who dies, and which call of a dead one arrives late. After each change [`audit`] holds the bucket against the database:
//! every blob reads as it did at first, of open uploads too, which have just what their clients have sent; and chunks that
//! somebody was told of are there for the grace time. At the end everybody comes to rest, uploads expire, the grace time
//! passes, and nothing may be left but what is needed, nor anything reserved.
//!
//! What is taken for granted of the world, and what the clock keeps to: a put arrives within ten minutes of being sent,
//! or never; a sweep's or a repack's batch runs within a minute, or never. Everything else may be arbitrarily late.
//!
//! A further kind of request is a line in [`choice`], and its request in [`request`].
//! `LEDGE_TEST_SEED` runs one seed alone, and tells what happens.

mod audit;
mod choice;
mod drafts;
mod offers;
mod operation;
mod request;
mod rest;
mod schedule;
mod statistics;
mod uploads;

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
    everyday(0..250);
}

#[test]
fn nothing_that_is_needed_goes_and_nothing_else_stays_2() {
    everyday(250..500);
}

#[test]
#[ignore = "takes minutes: cargo xtask test --full"]
fn nothing_that_is_needed_goes_and_nothing_else_stays_in_many_more_schedules() {
    everyday(500..5000);
}
