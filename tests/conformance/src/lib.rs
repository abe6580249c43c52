//! One suite that every implementation of the ports must pass: the contracts in `ledge_core::ports`, sentence by
//! sentence.
//!
//! It runs wherever the ports run, inside workerd too, so a failed check is an entry in the [`Report`] and never
//! a panic. It needs no migrations: its tables are its own, all named `conformance_…`, as are its keys in the
//! bucket; both are removed at its end.

mod bucket;
mod db;
mod host;
mod queue;
mod report;
mod runner;
mod sample;
mod upload;
mod wrappers;

pub use report::Report;
pub use runner::Runner;

use ledge_core::ports::{Host, Platform};

/// Runs every check.
pub async fn run<P, R>(platform: &P, runner: &R) -> Report
where
    P: Platform,
    R: Runner<Body = <P::Host as Host>::Body>,
{
    run_without(&[], platform, runner).await
}

/// Runs every check but some.
pub async fn run_without<P, R>(left_out: &'static [&'static str], platform: &P, runner: &R) -> Report
where
    P: Platform,
    R: Runner<Body = <P::Host as Host>::Body>,
{
    let mut report = Report { left_out, ..Report::default() };
    db::check(platform.db(), &mut report).await;
    bucket::check(platform.bucket(), &mut report).await;
    queue::check(platform.queue(), platform.host(), &mut report).await;
    host::check(platform, runner, &mut report).await;
    upload::check(runner, &mut report).await;
    wrappers::check(platform, &mut report).await;
    report
}
