//! Spin: SQLite or libSQL, any S3 bucket, and the functions component in place of a queue.
//!
//! Values live as long as one request. An instance may answer several requests, at the same time too, so nothing here
//! waits for what another request does.

mod body;
mod client;
mod db;
mod host;
pub mod http;
mod migrate;
mod queue;
mod setup;
mod upload;
mod variables;

pub use body::Body;
pub use client::Outbound;
pub use db::Sqlite;
pub use host::SpinHost;
pub use queue::{Messages, SECRET_HEADER};
pub use setup::{SetupError, Spin, functions, gateway};
pub use upload::RequestBody;

/// What an entry point is made of.
pub use spin_sdk::wasip3;
