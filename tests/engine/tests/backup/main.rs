//! Dumps: the tables that they hold, the moment that they show, what is restored from them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    reason = "test code"
)]

mod moment;
mod schema;
