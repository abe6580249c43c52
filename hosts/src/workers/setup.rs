//! From a Worker's bindings to the four ports. The names are those in wrangler.toml.

use std::rc::Rc;

use ledge_core::ports::Ports;
use ledge_core::settings::{SettingError, Settings};
use ledge_core::wrappers::Either;
use worker::{Context, Env, ScheduleContext};

use super::host::Background;
use super::{D1, Fetch, Objects, Queues, R2, WorkerHost};
use crate::buckets::{BucketSettings, Configured, Entry};
use crate::s3::S3;

/// The four ports of one request.
pub type WorkerPorts = Ports<D1, Configured<Objects>, Queues, WorkerHost>;

/// Why a Worker can't work: wrangler.toml doesn't give what it needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A binding that isn't there, or has another type.
    #[error("wrangler.toml has no usable {section} with binding = \"{binding}\": {reason}")]
    Binding {
        /// The section of wrangler.toml that the binding belongs to.
        section: &'static str,
        /// The binding's name.
        binding: &'static str,
        /// What the runtime says.
        reason: String,
    },
    /// A variable in `[vars]`, or a secret, whose value can't be used.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Makes the ports for one request, or for one batch of a queue's messages.
///
/// # Errors
/// A [`SetupError`] names the first binding or variable that is missing or wrong.
pub fn ports(env: &Env, context: &Context) -> Result<WorkerPorts, SetupError> {
    ports_of(env, context.into())
}

/// Makes the ports for one run of a cron trigger.
///
/// # Errors
/// As [`ports`].
pub fn scheduled_ports(env: &Env, context: ScheduleContext) -> Result<WorkerPorts, SetupError> {
    ports_of(env, context.into())
}

fn ports_of(env: &Env, background: Background) -> Result<WorkerPorts, SetupError> {
    let missing = |section, binding| {
        move |reason: worker::Error| SetupError::Binding { section, binding, reason: reason.to_string() }
    };
    let database = env.d1("DB").map_err(missing("[[d1_databases]]", "DB"))?;
    // Secrets are read like variables.
    let variable = |name: &str| env.var(name).ok().map(|value| value.to_string());
    let buckets = BucketSettings::read(variable)?;
    let default = match &buckets.default {
        Some(settings) => Either::Right(S3::new(settings, Fetch)),
        None => Either::Left(R2::new(env.bucket("BUCKET").map_err(missing("[[r2_buckets]]", "BUCKET"))?)),
    };
    let named = buckets.open(|entry| match entry {
        Entry::S3(settings) => Ok(Either::Right(S3::new(settings, Fetch))),
        Entry::Binding(binding) => match env.bucket(binding) {
            Ok(bucket) => Ok(Either::Left(R2::new(bucket))),
            Err(error) => Err(format!("no usable [[r2_buckets]] with binding = {binding:?}: {error}")),
        },
        Entry::Folder(_) => Err("a Worker has no folders".to_owned()),
    })?;
    let bucket = Configured::new(default, named);
    let queue = Queues::new(|binding| env.queue(binding).map_err(missing("[[queues.producers]]", binding)))?;
    let settings = Settings::read(variable)?;
    Ok(Ports {
        db: D1::new(database).map_err(missing("[[d1_databases]]", "DB"))?,
        bucket: bucket.clone(),
        queue,
        host: WorkerHost::new(bucket, background),
        settings: Rc::new(settings),
    })
}
