//! Clients as people use them, against each host: litmus, rclone, cadaver and davfs2 by WebDAV, tus-js-client, and what unpacks
//! ZIP files.
//!
//! They have no configuration and leave nothing behind: each works in a folder of its own, which is its home.

mod archives;
mod cadaver;
mod davfs2;
mod litmus;
mod rclone;
mod uploads;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::blackbox::{self, Running};
use super::libtest::{Programs, Verdict, Verdicts, tally};
use super::scratch::Scratch;
use crate::setup::{self, Clients};

/// The longest that a client may take; none takes a tenth of it.
const LIMIT_SECS: u32 = 240;

/// Runs the clients against the native host.
pub(super) fn on_local(programs: &Programs, clients: &Clients, full: bool) -> Result<Verdicts> {
    run_on(clients, &blackbox::start_local(programs, "clients")?, full)
}

/// Runs the clients against the native host over an S3 bucket.
pub(super) fn on_local_s3(programs: &Programs, clients: &Clients, full: bool) -> Result<Verdicts> {
    run_on(clients, &blackbox::start_local_s3(programs, "clients")?, full)
}

/// Runs the clients against the Workers in workerd.
pub(super) fn on_workerd(programs: &Programs, clients: &Clients, full: bool) -> Result<Verdicts> {
    let administrator = blackbox::template(programs)?;
    run_on(clients, &blackbox::start_workerd("clients", &administrator, false)?, full)
}

/// Runs the clients against the Workers in workerd over an S3 bucket.
pub(super) fn on_workerd_s3(programs: &Programs, clients: &Clients, full: bool) -> Result<Verdicts> {
    let administrator = blackbox::template(programs)?;
    run_on(clients, &blackbox::start_workerd("clients", &administrator, true)?, full)
}

/// Runs the clients against the Spin components over an S3 bucket.
pub(super) fn on_spin(programs: &Programs, clients: &Clients, full: bool) -> Result<Verdicts> {
    let host = setup::spin_host()?;
    let administrator = blackbox::spin_template(programs, &host)?;
    run_on(clients, &blackbox::start_spin("clients", &host, &administrator)?, full)
}

fn run_on(clients: &Clients, running: &Running, full: bool) -> Result<Verdicts> {
    let url = format!("{}/dav/", running.server.url());
    let verdicts = run(clients, running.host, (&url, &running.administrator.token), full)?;
    if tally(&verdicts).failed > 0 {
        eprintln!("what the host said stands in {}", blackbox::log(running.host, "clients").display());
    }
    Ok(verdicts)
}

/// Runs the clients against a server that runs already: its URL, which ends with a slash, and a token.
pub(super) fn run(
    clients: &Clients,
    host: &'static str,
    (url, token): (&str, &str),
    full: bool,
) -> Result<Verdicts> {
    let mut verdicts = Verdicts::new();
    for (name, run) in CLIENTS {
        let folder = Scratch::empty(&format!("{host}-{name}"))?;
        let folder = std::path::absolute(folder.folder()).context("can't tell the working directory")?;
        let of_client = run(clients, &Site { host, url: url.to_owned(), token, folder, full })?;
        verdicts.extend(of_client.into_iter().map(|(test, verdict)| (format!("{name}::{test}"), verdict)));
    }
    Ok(verdicts)
}

type Client = fn(&Clients, &Site<'_>) -> Result<Verdicts>;

const CLIENTS: [(&str, Client); 6] = [
    ("litmus", litmus::run),
    ("rclone", rclone::run),
    ("cadaver", cadaver::run),
    ("davfs2", davfs2::run),
    ("uploads", uploads::run),
    ("archives", archives::run),
];

/// Where a client connects, and where it works.
struct Site<'a> {
    host: &'static str,
    /// Ends with a slash.
    url: String,
    token: &'a str,
    /// Absolute.
    folder: PathBuf,
    /// Whether to try the large sizes too.
    full: bool,
}

impl Site<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            crate::stamp::make_folder(folder)?;
        }
        fs::write(&path, content).with_context(|| format!("can't write {}", path.display()))?;
        Ok(path)
    }

    /// Runs a client in its folder, no longer than it may take, and gives whether it succeeded and what it said.
    fn ask(&self, command: Command, input: Option<&Path>) -> Result<(bool, String)> {
        let said = self.path("said");
        let file = fs::File::create(&said).context("can't write what a client says")?;
        let mut limited = Command::new("timeout");
        limited.arg("--kill-after=5").arg(LIMIT_SECS.to_string()).arg(command.get_program());
        limited.args(command.get_args()).current_dir(&self.folder);
        limited.env("HOME", &self.folder).env("LC_ALL", "C.UTF-8").env("TERM", "dumb");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        match input {
            Some(path) => limited.stdin(fs::File::open(path).context("can't read a client's script")?),
            None => limited.stdin(std::process::Stdio::null()),
        };
        limited.stdout(file.try_clone().context("can't share a file")?).stderr(file);
        let status = limited.status().context("can't run `timeout`, which is a part of coreutils")?;
        let said = fs::read(&said).context("can't read what a client said")?;
        let mut said = String::from_utf8_lossy(&said).into_owned();
        if status.code() == Some(124) {
            said += &format!("\nstopped after {LIMIT_SECS} s");
        }
        Ok((status.success(), said))
    }
}

/// The steps of a script, each a test of its own.
#[derive(Default)]
struct Steps(Verdicts);

impl Steps {
    /// Takes a step. A failure is shown, and the next step is taken all the same.
    fn take(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        let verdict = match step() {
            Ok(()) => Verdict::Passed,
            Err(error) => {
                eprintln!("{name}: {error:#}");
                Verdict::Failed
            }
        };
        self.0.push((name.to_owned(), verdict));
    }
}

/// Fails where two things differ, and shows both.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, is: T, should_be: T) -> Result<()> {
    if is != should_be {
        bail!("{what} is {is:?}, not {should_be:?}");
    }
    Ok(())
}
