//! Running other programs, so that a failure is a sentence that says what to do.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Where npm puts the programs of its packages, absolute.
pub(crate) fn npm_bin() -> Result<PathBuf> {
    std::path::absolute("node_modules/.bin").context("can't tell the working directory")
}

/// A program from an npm package, or one that needs them on its path: Node itself is one of them, so a
/// script's `#!/usr/bin/env node` finds the pinned version.
pub(crate) fn npm_program(name: impl AsRef<OsStr>) -> Result<Command> {
    let mut command = Command::new(name);
    command.env("PATH", path_with(&[&npm_bin()?])?).env("WRANGLER_SEND_METRICS", "false");
    Ok(command)
}

/// The native toolchain's cargo: the one that started this program.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The search path with some folders in front.
pub(crate) fn path_with(first: &[&Path]) -> Result<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = first.iter().map(|folder| folder.to_path_buf()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("a folder in PATH holds a colon")
}

/// Runs a command, its output shown as it comes.
pub(crate) fn show(command: &mut Command, advice: &str) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).status().map_err(|error| not_started(command, &error, advice))?;
    if !status.success() {
        bail!("`{}` failed ({status}); {advice}", line(command));
    }
    Ok(())
}

/// Runs a command and gives its standard output; the rest is shown only if it fails.
pub(crate) fn quiet(command: &mut Command, advice: &str) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error, advice))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        eprint!("{text}{}", String::from_utf8_lossy(&output.stderr));
        bail!("`{}` failed ({}); {advice}", line(command), output.status);
    }
    Ok(text)
}

/// Whether a command can be run and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn not_started(command: &Command, error: &std::io::Error, advice: &str) -> anyhow::Error {
    anyhow::anyhow!("can't run `{}`: {error}; {advice}", line(command))
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
