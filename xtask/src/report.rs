//! What became of a run: its stages, their times, and how many tests passed.

use std::time::{Duration, Instant};

use anyhow::Result;

/// How many tests, or checks that are one test each, ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// Those that passed.
    pub(crate) passed: usize,
    /// Those that failed.
    pub(crate) failed: usize,
    /// Those that were not run.
    pub(crate) skipped: usize,
}

impl Tally {
    /// A single check that passed.
    pub(crate) const ONE_PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    /// A step that proves nothing by itself.
    pub(crate) const NOTHING: Self = Self { passed: 0, failed: 0, skipped: 0 };

    /// Adds another one.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// The closing line that other programs read.
impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 { write!(f, ", {} skipped", self.skipped) } else { Ok(()) }
    }
}

struct Stage {
    name: &'static str,
    took: Duration,
    tally: Tally,
}

/// The stages so far.
#[derive(Default)]
pub(crate) struct Report {
    stages: Vec<Stage>,
}

impl Report {
    /// Runs a stage, and gives what it made unless it broke off. An error counts as one failure.
    pub(crate) fn stage<T>(
        &mut self,
        name: &'static str,
        run: impl FnOnce() -> Result<(Tally, T)>,
    ) -> Option<T> {
        eprintln!("== {name}");
        let begun = Instant::now();
        let result = run();
        let took = begun.elapsed();
        let (tally, made) = match result {
            Ok((tally, made)) => (tally, Some(made)),
            Err(error) => {
                eprintln!("error: {error:#}");
                (Tally { failed: 1, ..Tally::NOTHING }, None)
            }
        };
        self.stages.push(Stage { name, took, tally });
        made
    }

    /// Runs a stage that is a single check.
    pub(crate) fn check(&mut self, name: &'static str, run: impl FnOnce() -> Result<()>) {
        self.stage(name, || run().map(|()| (Tally::ONE_PASSED, ())));
    }

    /// The sum of all stages.
    pub(crate) fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.stages.iter().for_each(|stage| total.add(stage.tally));
        total
    }

    /// Each stage's time and counts, as a table.
    pub(crate) fn table(&self) -> String {
        let mut table = format!("{:<34} {:>8} {:>7} {:>7}\n", "stage", "seconds", "passed", "failed");
        let row = |name: &str, took: Duration, tally: Tally| {
            format!("{name:<34} {:>8.1} {:>7} {:>7}\n", took.as_secs_f64(), tally.passed, tally.failed)
        };
        for stage in &self.stages {
            table += &row(stage.name, stage.took, stage.tally);
        }
        table + &row("together", self.stages.iter().map(|stage| stage.took).sum(), self.total())
    }

    /// Prints the table and, as the very last line, the total; an error where anything failed.
    pub(crate) fn close(&self) -> Result<()> {
        let total = self.total();
        println!("\n{}", self.table());
        if total.failed > 0 {
            println!("Not everything passed; the messages above say what.\n");
        }
        println!("{total}");
        if total.failed > 0 { Err(Failed.into()) } else { Ok(()) }
    }
}

/// Something failed, and all has been said about it.
#[derive(Debug)]
pub(crate) struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not everything passed")
    }
}

impl std::error::Error for Failed {}
