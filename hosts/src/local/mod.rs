//! The native host: SQLite, a folder or an S3 bucket, and an in-process queue, under one folder of data.
//!
//! Everything runs on one thread (see [`run`]); only file content and hashing go to tokio's blocking threads.
//! Nothing here decides anything about files, rights or formats: it carries out the ports' contracts.

mod body;
mod bucket;
mod client;
mod db;
mod host;
mod http;
mod migrate;
mod objects;
mod open;
mod queue;
mod remote;
mod request_line;
mod runtime;
mod upload;

pub use body::Body;
pub use bucket::Folder;
pub use client::HttpClient;
pub use db::Sqlite;
pub use host::Local;
pub use http::serve;
pub use objects::{LocalBuckets, Objects, open_buckets};
pub use open::{LocalPorts, OpenError, Temporary, open, temporary, temporary_in};
pub use queue::InProcess;
pub use runtime::{run, stop_signal};
pub use upload::Upload;
