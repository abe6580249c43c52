//! What runs the Spin components in the tests: `spin` where it is on the path, else the test host, which is compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::tools;
use crate::process;
use crate::stamp::{fingerprint, make_folder};

/// The test host's workspace.
const SOURCES: &str = "tests/spin-host";
const PROGRAM: &str = "ledge-spin-host";
/// Takes the test host's command line, and runs `spin up`.
const SCRIPT: &str = "xtask/src/setup/spin_up.sh";

/// A program that takes the test host's command line.
pub(crate) struct SpinHost {
    /// What to run.
    pub(crate) program: PathBuf,
    /// What comes before all other arguments.
    pub(crate) first: Vec<String>,
    /// Where it keeps compiled components, if it does.
    pub(crate) cache: Option<PathBuf>,
}

/// Finds `spin`, or compiles the test host unless that is done.
pub(crate) fn spin_host() -> Result<SpinHost> {
    if has_spin() {
        let script = std::path::absolute(SCRIPT).context("can't tell the working directory")?;
        return Ok(SpinHost { program: "sh".into(), first: vec![script.display().to_string()], cache: None });
    }
    let home = tools::folder("spin-host", &fingerprint(&sources(Path::new(SOURCES))?)?)?;
    let program = home.join(PROGRAM);
    if !program.is_file() {
        super::announce(
            "compiling the test host for Spin",
            "four to ten minutes on two cores, seconds later",
        );
        let target = target_folder()?;
        process::show(&mut cargo("build", &target), "run the command again")?;
        make_folder(&home)?;
        // It takes its place only when it is whole.
        let partial = home.join(format!("partial-{}", std::process::id()));
        fs::copy(target.join("release").join(PROGRAM), &partial).context("can't copy the test host")?;
        fs::rename(&partial, &program).context("can't put the test host into its place")?;
    }
    Ok(SpinHost { program, first: Vec::new(), cache: Some(home.join("components")) })
}

/// Runs cargo in the test host's workspace, which has a folder of its own for what is compiled, shared by all checkouts.
fn cargo(command: &str, target: &Path) -> Command {
    let mut cargo = process::cargo();
    cargo.args([command, "--quiet", "--release", "--locked", "--manifest-path"]);
    cargo.arg(Path::new(SOURCES).join("Cargo.toml")).arg("--target-dir").arg(target);
    cargo
}

/// Where the test host and its dependencies are compiled.
fn target_folder() -> Result<PathBuf> {
    tools::folder("target", "spin-host")
}

/// Spin 3 and older don't run these components.
fn has_spin() -> bool {
    let output = Command::new("spin").arg("--version").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let major = said.strip_prefix("spin ").and_then(|version| version.split('.').next()?.parse().ok());
    major.is_some_and(|major: u32| major >= 4)
}

/// All files of the workspace but what cargo makes.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))? {
        let path = entry.with_context(|| format!("can't read {}", folder.display()))?.path();
        if path.is_file() {
            files.push(path);
        } else if !path.ends_with("target") {
            files.extend(sources(&path)?);
        }
    }
    files.sort();
    Ok(files)
}
