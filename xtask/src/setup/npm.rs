//! `npm ci`: wrangler, Miniflare, esbuild, wasm-opt, and the Node that they need, as package-lock.json pins them.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::stamp::Stamp;

/// Installs the packages, unless those of this very lock file are there.
pub(super) fn provide() -> Result<()> {
    let lock = fs::read_to_string("package-lock.json").context("can't read package-lock.json")?;
    let stamp = Stamp::at("node_modules/.ledge-lock");
    if stamp.is(&lock) {
        return Ok(());
    }
    super::announce(
        "npm packages into node_modules",
        "about half a minute, 500 MB; again when package-lock.json changes",
    );
    process::quiet(
        Command::new("npm").args(["ci", "--no-audit", "--no-fund"]),
        "npm comes with Node.js, of which version 20 is enough here (Debian: `apt-get install npm`); it needs the \
         network. Then run the command again",
    )?;
    // The package `node` fetches the program itself in an install script, which npm can be told to skip.
    process::quiet(
        Command::new("node_modules/.bin/node").arg("--version"),
        "npm must be allowed to run install scripts: `npm config set ignore-scripts false`, remove node_modules, \
         and run the command again",
    )?;
    stamp.set(&lock)
}
