//! Giving bytes back: nothing that is needed goes, and what nothing needs does.
//!
//! The database is the native one. Objects lie in a map and the clock is the test's, so that thousands of schedules, each
//! of which may last for weeks, take seconds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test code"
)]

mod content;
mod faults;
mod model;
mod plans;
mod race;
mod scale;
mod steps;
mod world;
