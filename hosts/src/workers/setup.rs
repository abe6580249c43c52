//! From a Worker's bindings to the four ports. The names are those in wrangler.toml.

use ledge_core::ports::Ports;
use worker::{Context, Env};

use super::{D1, Queues, R2, WorkerHost};

/// The four ports of one request.
pub type WorkerPorts = Ports<D1, R2, Queues, WorkerHost>;

/// A binding that wrangler.toml doesn't give, or gives with another type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("wrangler.toml has no usable {section} with binding = \"{binding}\": {reason}")]
pub struct SetupError {
    /// The section of wrangler.toml that the binding belongs to.
    pub section: &'static str,
    /// The binding's name.
    pub binding: &'static str,
    /// What the runtime says.
    pub reason: String,
}

/// Makes the ports for one request.
///
/// # Errors
/// A [`SetupError`] names the first binding that is missing.
pub fn ports(env: &Env, context: &Context) -> Result<WorkerPorts, SetupError> {
    let missing = |section, binding| {
        move |reason: worker::Error| SetupError { section, binding, reason: reason.to_string() }
    };
    let database = env.d1("DB").map_err(missing("[[d1_databases]]", "DB"))?;
    let bucket = R2::new(env.bucket("BUCKET").map_err(missing("[[r2_buckets]]", "BUCKET"))?);
    let maintenance =
        env.queue("QUEUE_MAINTENANCE").map_err(missing("[[queues.producers]]", "QUEUE_MAINTENANCE"))?;
    Ok(Ports {
        db: D1::new(database).map_err(missing("[[d1_databases]]", "DB"))?,
        bucket: bucket.clone(),
        queue: Queues::new(maintenance),
        host: WorkerHost::new(bucket, context),
    })
}
