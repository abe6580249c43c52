//! Dumps: the tables that they hold, the moment that they show, what is restored from them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    reason = "test code"
)]

mod days;
mod drill;
mod faults;
mod moment;
mod policy;
mod schema;
