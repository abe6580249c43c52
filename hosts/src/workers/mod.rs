//! Cloudflare Workers: D1, R2 and Queues.
//!
//! Values live as long as one request: bindings and promises of one request must not be used by another.
//! Nothing here keeps state between requests.

mod body;
mod bucket;
mod db;
mod host;
pub mod http;
mod js;
pub mod queue;
mod setup;
mod upload;

pub use body::Body;
pub use bucket::R2;
pub use db::D1;
pub use host::WorkerHost;
pub use queue::Queues;
pub use setup::{SetupError, WorkerPorts, ports, scheduled_ports};
pub use upload::RequestBody;
