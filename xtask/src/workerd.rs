//! Workers in workerd, started through Miniflare's Node API (xtask/js/workerd.mjs).

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::build::Worker;
use crate::stamp::make_folder;
use crate::{interrupt, process, setup};

/// How long workerd may take to start. It takes about a second.
const START: Duration = Duration::from_secs(60);
/// How long it may take to stop before it is killed. It takes a tenth of a second.
const STOP: Duration = Duration::from_secs(10);
/// How often to look whether something has happened that can't be waited for.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// What to run, and where.
pub(crate) struct Options {
    /// The folder of the database, the bucket and the queues.
    pub(crate) state: PathBuf,
    /// The port on 127.0.0.1; 0 is a free one.
    pub(crate) port: u16,
    /// Configuration and build folder of each Worker. The first one answers.
    pub(crate) workers: Vec<(PathBuf, PathBuf)>,
    /// A file for what the Workers and workerd say; None shows it.
    pub(crate) log: Option<PathBuf>,
}

/// Pairs of configuration and build folder, for [`Options::workers`].
pub(crate) fn built(workers: &[Worker]) -> Vec<(PathBuf, PathBuf)> {
    workers.iter().map(|worker| (worker.config().into(), worker.folder())).collect()
}

/// A running workerd. It stops when this is dropped, and when this program dies.
pub(crate) struct Workerd {
    child: Child,
    url: String,
}

impl Workerd {
    /// Starts workerd and waits until it answers.
    pub(crate) fn start(options: Options) -> Result<Self> {
        if options.port != 0 && TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).is_err() {
            bail!("port {0} is taken; stop what listens there, or choose another with --port", options.port);
        }
        make_folder(&options.state)?;
        let mut node = process::npm_program("node")?;
        node.arg("xtask/js/workerd.mjs").arg("--state").arg(&options.state);
        node.arg("--port").arg(options.port.to_string());
        for (config, folder) in &options.workers {
            node.arg("--worker").arg(format!("{}={}", config.display(), folder.display()));
        }
        let log = options.log.as_deref().map(create_log).transpose()?;
        if let Some(log) = &log {
            node.stderr(log.try_clone().context("can't share the log file")?);
        }
        let mut child =
            node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("can't run Node")?;
        let lines = child.stdout.take().map(|stdout| follow(stdout, log));
        let mut workerd = Self { child, url: String::new() };
        let ready = lines.and_then(|lines| lines.recv_timeout(START).ok()).unwrap_or_default();
        let ready: serde_json::Value = serde_json::from_str(&ready).unwrap_or_default();
        workerd.url = ready.get("url").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        if workerd.url.is_empty() {
            let place = options.log.map_or("above".to_owned(), |log| format!("in {}", log.display()));
            bail!("workerd did not start; what it said stands {place}");
        }
        Ok(workerd)
    }

    /// Where the first Worker answers.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Whether it has ended by itself.
    pub(crate) fn exited(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context("can't tell whether workerd runs")
    }

    /// Waits until it ends by itself, or this program is asked to stop.
    pub(crate) fn wait(&mut self) -> Result<()> {
        while !interrupt::asked() {
            if let Some(status) = self.exited()? {
                // Ctrl-C reaches the whole group of processes, perhaps that one first.
                std::thread::sleep(LOOK);
                if !interrupt::asked() && !status.success() {
                    bail!("workerd ended by itself ({status}); what it said stands above");
                }
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for Workerd {
    fn drop(&mut self) {
        // Its standard input is its leash.
        drop(self.child.stdin.take());
        let deadline = Instant::now() + STOP;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        // Nothing more can be done if these fail.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn create_log(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    File::create(path).with_context(|| format!("can't write {}", path.display()))
}

/// Hands on the first line; the rest goes to the log or to standard error.
fn follow(stdout: impl Read + Send + 'static, log: Option<File>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut first = String::new();
        if stdout.read_line(&mut first).is_ok() {
            // The receiver may have given up; the rest must be drained all the same.
            let _ = sender.send(first);
        }
        let mut rest: Box<dyn Write> =
            log.map_or_else(|| Box::new(std::io::stderr()) as _, |log| Box::new(log) as _);
        let _ = std::io::copy(&mut stdout, &mut rest);
    });
    receiver
}

/// `cargo xtask workerd`: for benchmarks, and for looking into things.
pub(crate) fn run_by_hand(mut arguments: Arguments) -> Result<()> {
    let state = arguments.value("--state")?.context("say where the state lies: --state DIR")?;
    let port =
        arguments.value("--port")?.map_or(Ok(0), |port| port.parse()).context("--port takes a number")?;
    let workers = arguments.values("--worker")?;
    arguments.end()?;
    let pairs = workers
        .iter()
        .map(|pair| pair.split_once('=').map(|(config, folder)| (config.into(), folder.into())));
    let workers = pairs.collect::<Option<Vec<_>>>().context("--worker takes CONFIG=BUILD_DIR")?;
    anyhow::ensure!(!workers.is_empty(), "name at least one Worker: --worker CONFIG=BUILD_DIR");
    setup::run()?;
    interrupt::watch()?;
    let mut workerd = Workerd::start(Options { state: state.into(), port, workers, log: None })?;
    println!("{}", workerd.url());
    workerd.wait()
}
