//! Workers in workerd, started through Miniflare's Node API (xtask/js/workerd.mjs).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::arguments::Arguments;
use crate::build::Worker;
use crate::server::{Server, must_be_free};
use crate::stamp::make_folder;
use crate::{interrupt, process, setup};

/// What to run, and where.
pub(crate) struct Options<'a> {
    /// The folder of the database, the bucket and the queues.
    pub(crate) state: &'a Path,
    /// The port on 127.0.0.1; 0 is a free one.
    pub(crate) port: u16,
    /// Configuration and build folder of each Worker. The first one answers.
    pub(crate) workers: Vec<(PathBuf, PathBuf)>,
    /// Variables of all Workers, beside those in their wrangler.toml.
    pub(crate) variables: &'a [(&'a str, &'a str)],
    /// Objects to put into buckets of R2 before anything else: the binding, the key, the content.
    pub(crate) objects: &'a [(&'a str, &'a str, &'a str)],
    /// How often the cron triggers go off.
    pub(crate) tick_secs: u32,
    /// A file for what the Workers and workerd say; None shows it.
    pub(crate) log: Option<&'a Path>,
}

/// Pairs of configuration and build folder, for [`Options::workers`].
pub(crate) fn built(workers: &[Worker]) -> Vec<(PathBuf, PathBuf)> {
    workers.iter().map(|worker| (worker.config().into(), worker.folder())).collect()
}

/// Starts workerd and waits until it answers.
pub(crate) fn start(options: &Options<'_>) -> Result<Server> {
    must_be_free(options.port)?;
    make_folder(options.state)?;
    let mut node = process::npm_program("node")?;
    node.arg("xtask/js/workerd.mjs").arg("--state").arg(options.state);
    node.arg("--port").arg(options.port.to_string());
    node.arg("--tick-secs").arg(options.tick_secs.to_string());
    for (binding, key, content) in options.objects {
        node.arg("--object").arg(format!("{binding}/{key}={content}"));
    }
    for (name, value) in options.variables {
        node.arg("--var").arg(format!("{name}={value}"));
    }
    for (config, folder) in &options.workers {
        node.arg("--worker").arg(format!("{}={}", config.display(), folder.display()));
    }
    Server::start(node, options.log)
}

/// `cargo xtask workerd`: for benchmarks, and for looking into things.
pub(crate) fn run_by_hand(mut arguments: Arguments) -> Result<()> {
    let state = arguments.value("--state")?.context("say where the state lies: --state DIR")?;
    let port =
        arguments.value("--port")?.map_or(Ok(0), |port| port.parse()).context("--port takes a number")?;
    let pairs = arguments.values("--worker")?;
    arguments.end()?;
    let pairs =
        pairs.iter().map(|pair| pair.split_once('=').map(|(config, dir)| (config.into(), dir.into())));
    let workers: Option<Vec<_>> = pairs.collect();
    let workers = workers.filter(|workers| !workers.is_empty()).context("--worker takes CONFIG=BUILD_DIR")?;
    setup::run()?;
    interrupt::watch()?;
    let mut workerd = start(&Options {
        state: Path::new(&state),
        port,
        workers,
        variables: &[],
        objects: &[],
        tick_secs: 60,
        log: None,
    })?;
    println!("{}", workerd.url());
    workerd.wait()
}
