//! schemathesis, which tests the API by its OpenAPI document: from PyPI, into a virtual environment beside the compiled
//! tools.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::tools::folder;
use crate::process;
use crate::stamp::{Stamp, remove_folder};

/// Every package with its version.
const REQUIREMENTS: &str = "tests/schemathesis.txt";

/// Installs it, unless this very list of packages is there. The path of its program.
pub(crate) fn schemathesis() -> Result<PathBuf> {
    let wanted = fs::read_to_string(REQUIREMENTS).with_context(|| format!("can't read {REQUIREMENTS}"))?;
    let version = wanted.lines().find_map(|line| line.strip_prefix("schemathesis=="));
    let home = folder("schemathesis", version.with_context(|| format!("{REQUIREMENTS} lacks it"))?)?;
    let program = home.join("bin/st");
    let stamp = Stamp::at(home.join("installed"));
    if stamp.is(&wanted) && program.is_file() {
        return Ok(program);
    }
    super::announce("schemathesis from PyPI", "half a minute, 60 MB");
    remove_folder(&home)?;
    process::quiet(
        Command::new("python3").args(["-m", "venv"]).arg(&home),
        "install Python 3.10 or later with its module venv (Debian: `apt-get install python3-venv`), and run the \
         command again",
    )?;
    let mut pip = Command::new(home.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--disable-pip-version-check",
        "--requirement",
    ]);
    process::quiet(pip.arg(REQUIREMENTS), "pip needs the network; then run the command again")?;
    stamp.set(&wanted)?;
    Ok(program)
}
