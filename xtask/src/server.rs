//! A server that a command starts: it says once that it is ready, and stops no later than the command.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::interrupt;
use crate::stamp::make_folder;

/// How long a server may take to start. It takes about a second.
const START: Duration = Duration::from_secs(60);
/// How long it may take to stop before it is killed. It takes a tenth of a second.
const STOP: Duration = Duration::from_secs(10);
/// How often to look whether something has happened that can't be waited for.
const LOOK: Duration = Duration::from_millis(50);

/// A running server. It stops when this is dropped; and when this program dies, since its standard input, which
/// it watches, is closed then.
pub(crate) struct Server {
    child: Child,
    ready: Value,
}

impl Server {
    /// Starts a server and waits for the line of JSON by which it says that it is ready. All else that it says
    /// goes to the log, or to standard error.
    pub(crate) fn start(mut command: Command, log: Option<&Path>) -> Result<Self> {
        let log_file = log.map(create).transpose()?;
        if let Some(file) = &log_file {
            command.stderr(file.try_clone().context("can't share the log file")?);
        }
        let name = Path::new(command.get_program()).display().to_string();
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut server =
            Self { child: child.with_context(|| format!("can't run {name}"))?, ready: Value::Null };
        let lines = server.child.stdout.take().map(|stdout| follow(stdout, log_file));
        let line = lines.and_then(|lines| lines.recv_timeout(START).ok()).unwrap_or_default();
        server.ready = serde_json::from_str(&line).unwrap_or_default();
        if server.ready.get("url").is_none() {
            let place = log.map_or("above".to_owned(), |log| format!("in {}", log.display()));
            bail!("the server did not start; what it said stands {place}");
        }
        Ok(server)
    }

    /// What it said when it was ready.
    pub(crate) fn ready(&self) -> &Value {
        &self.ready
    }

    /// Where it answers.
    pub(crate) fn url(&self) -> &str {
        self.ready.get("url").and_then(Value::as_str).unwrap_or_default()
    }

    /// Its process, for who measures it.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it ends by itself, or this program is asked to stop.
    pub(crate) fn wait(&mut self) -> Result<()> {
        while !interrupt::asked() {
            if let Some(status) = self.exited()? {
                // Ctrl-C reaches the whole group of processes, perhaps that one first.
                std::thread::sleep(LOOK);
                if !interrupt::asked() && !status.success() {
                    bail!("the server ended by itself ({status}); what it said stands above");
                }
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn exited(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context("can't tell whether the server runs")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + STOP;
        while Instant::now() < deadline {
            if !matches!(self.exited(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        // Nothing more can be done if these fail.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Fails where something listens on the port already.
pub(crate) fn must_be_free(port: u16) -> Result<()> {
    if port != 0 && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
        bail!("port {port} is taken; stop what listens there, or choose another with --port");
    }
    Ok(())
}

fn create(path: &Path) -> Result<File> {
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
        let mut rest: Box<dyn Write> = match log {
            Some(log) => Box::new(log),
            None => Box::new(std::io::stderr()),
        };
        let _ = std::io::copy(&mut stdout, &mut rest);
    });
    receiver
}
