//! The Spin components, in `spin` or in the test host: both take the same command line.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::setup::{SPIN_TARGET, SpinHost};

/// What instances are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instances {
    /// As `spin` makes them: 128 requests, and a second without one. Their memory may grow to half of an isolate's on Workers.
    Small,
    /// Like an isolate on Workers, for suites that count round trips and let many upload at once: a new instance has to look
    /// up once more what it remembers, and a small one refuses uploads earlier.
    Large,
}

impl Instances {
    fn memory_mib(self) -> &'static str {
        match self {
            Self::Small => "64",
            Self::Large => "128",
        }
    }

    fn variable(self) -> Option<(&'static str, &'static str)> {
        (self == Self::Large).then_some(("LEDGE_UPLOAD_MEMORY_MIB", "64"))
    }
}

/// Shared by the components, and by who sends the sweeps.
pub(crate) const JOBS_SECRET: &str = "the-secret-of-jobs-that-no-log-may-show";

/// The arguments that run the components over a database, which SQL is run in before anything else.
pub(crate) fn arguments(
    host: &SpinHost,
    database: &str,
    sql: Option<&Path>,
    variables: &[(&str, &str)],
    (instances, tick_secs): (Instances, &str),
) -> Result<Vec<String>> {
    let component = |name: &str| {
        let path = Path::new("target").join(SPIN_TARGET).join("release").join(format!("ledge_{name}.wasm"));
        Ok::<_, anyhow::Error>(
            std::path::absolute(path).context("can't tell the working directory")?.display().to_string(),
        )
    };
    let mut arguments = host.first.clone();
    let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    add("--gateway", component("gateway")?);
    add("--functions", component("functions")?);
    add("--database", database.to_owned());
    add("--memory-mib", instances.memory_mib().to_owned());
    if instances == Instances::Large {
        add("--reuse", "1000000".to_owned());
        add("--idle-secs", "60".to_owned());
    }
    add("--tick-secs", tick_secs.to_owned());
    if let Some(cache) = &host.cache {
        add("--cache", cache.display().to_string());
    }
    if let Some(sql) = sql {
        add("--sqlite", sql.display().to_string());
    }
    let ours = [("LEDGE_JOBS_SECRET", JOBS_SECRET)].into_iter().chain(instances.variable());
    for (name, value) in variables.iter().copied().chain(ours) {
        add("--variable", format!("{}={value}", name.to_lowercase()));
    }
    Ok(arguments)
}

/// The command that runs them over a database in a folder.
pub(crate) fn command(
    host: &SpinHost,
    folder: &Path,
    sql: Option<&Path>,
    variables: &[(&str, &str)],
    instances: Instances,
) -> Result<Command> {
    let database = std::path::absolute(folder.join(DATABASE)).context("can't tell the working directory")?;
    let mut command = Command::new(&host.program);
    command.args(arguments(host, &database.display().to_string(), sql, variables, (instances, "2"))?);
    Ok(command)
}

/// The name of the database's file: the native host's, so that its commands find it.
pub(crate) const DATABASE: &str = "ledge.db";
