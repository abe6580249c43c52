//! What the engine's tests share: the gateway over the native ports, in one process, where ports can be wrapped.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod between;
mod drive;
pub mod dumps;
mod follower;
mod invariants;
mod labour;
mod paced;
mod random;
mod recording;
pub mod worker;

pub use between::{Between, Raced, race, send_while};
pub use drive::{Answer, Drive, run};
pub use follower::Follower;
pub use invariants::check;
pub use labour::{Ahead, Labour, Labouring, Message};
pub use ledge_tests::{noise, zips};
pub use paced::{Batch, Pace, Paced, pace};
pub use random::Random;
pub use recording::{Recorded, Recording, record};
