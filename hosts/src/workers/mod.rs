//! Cloudflare Workers: D1, R2 or an S3 bucket, and Queues.
//!
//! Values live as long as one request: bindings and promises of one request must not be used by another.
//! Nothing here keeps state between requests.

mod body;
mod bucket;
mod db;
mod fetch;
mod host;
pub mod http;
mod js;
mod objects;
pub mod queue;
mod setup;
mod upload;

pub use body::Body;
pub use bucket::R2;
pub use db::D1;
pub use fetch::Fetch;
pub use host::WorkerHost;
pub use objects::Objects;
pub use queue::Queues;
pub use setup::{SetupError, WorkerPorts, ports, scheduled_ports};
pub use upload::RequestBody;
