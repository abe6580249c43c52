//! What the black-box suites share: a running Ledge, and words to talk to it.
//!
//! The suites know a host only by its URL. `cargo xtask test` starts each host and names it in the environment:
//! `LEDGE_TEST_URL`, `LEDGE_TEST_TOKEN`, `LEDGE_TEST_SPACE`, `LEDGE_TEST_HOST`, `LEDGE_TEST_PID`.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod content;
mod dav;
pub mod delta;
mod drive;
mod mortal;
pub mod pictures;
mod proxy;
mod server;
pub mod zips;

pub use content::noise;
pub use dav::{Dav, Element, Multistatus, ResponseOf, Wire, decoded};
pub use drive::{Drive, Reply};
pub use mortal::Mortal;
pub use proxy::{Fault, Proxy};
