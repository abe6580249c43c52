//! The native host, `ledge serve`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::state::Administrator;
use crate::{interrupt, process};

/// The command line, compiled first if need be.
pub(crate) fn ledge() -> Command {
    let mut cargo = process::cargo();
    cargo.args(["run", "--quiet", "--package", "ledge", "--"]);
    cargo
}

pub(crate) fn serve_by_hand(_data: &Path, _port: u16) -> Result<()> {
    interrupt::watch()
}

pub(crate) struct Local {
    administrator: Administrator,
}
impl Local {
    pub(crate) fn start(_ledge: &Path, _data: &Path, _log: &Path) -> Result<Self> {
        anyhow::bail!("not yet")
    }
    pub(crate) fn url(&self) -> &str {
        ""
    }
    pub(crate) fn administrator(&self) -> &Administrator {
        &self.administrator
    }
}
