//! The native host, `ledge serve`.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::server::{Server, must_be_free};
use crate::state::Administrator;

/// How often a server under test ticks: tests wait for what a tick does.
const TICK_SECS: &str = "2";

/// The command line, compiled first if need be.
pub(crate) fn ledge() -> Command {
    let mut cargo = process::cargo();
    cargo.args(["run", "--quiet", "--package", "ledge", "--"]);
    cargo
}

/// Becomes the native host; it stops on Ctrl-C by itself. Comes back only with an error.
pub(crate) fn become_host(data: &Path, port: u16) -> Result<()> {
    must_be_free(port)?;
    eprintln!("dev: compiling the native host (two minutes the first time)");
    let mut ledge = ledge();
    ledge.arg("serve").arg("--data").arg(data).arg("--listen").arg(format!("127.0.0.1:{port}"));
    Err(ledge.exec()).context("can't run cargo")
}

/// Starts the native host over an empty folder, which gives its first administrator.
pub(crate) fn start(
    ledge: &Path,
    data: &Path,
    variables: &[(&str, &str)],
    log: &Path,
) -> Result<(Server, Administrator)> {
    let mut command = Command::new(ledge);
    command.envs(variables.iter().copied());
    command.args(["serve", "--json", "--until-stdin-closes", "--listen", "127.0.0.1:0"]);
    command.args(["--tick-secs", TICK_SECS, "--data"]).arg(data);
    let server = Server::start(command, Some(log))?;
    let administrator = Administrator::read(server.ready())?;
    Ok((server, administrator))
}
