//! Imports: objects that others have stored become files in place, once, and stay theirs.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test code"
)]

mod content;
mod faults;
mod keys;
mod rights;
mod world;
