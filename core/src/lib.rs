//! The drive itself: pure rules, and use cases over four ports.
//!
//! Core knows no host and no HTTP framework, and depends on no crate that needs a clock, a thread, a file or a
//! socket. The words used here are defined in docs/ARCHITECTURE.md.

pub mod bootstrap;
pub mod digest;
pub mod ids;
pub mod plan;
pub mod ports;
pub mod token;
pub mod wrappers;
