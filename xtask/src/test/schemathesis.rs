//! The API against its own OpenAPI document: schemathesis makes up requests, valid and not, and fails where an answer is
//! a 5xx or isn't what the document says.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::scratch::Scratch;
use crate::{local, process};

/// The same requests in each run, and so many that it takes about a minute. Every request that the document allows may
/// still be refused for what it asks, so `positive_data_acceptance` doesn't hold.
const OPTIONS: &[&str] = &[
    "--no-color",
    "--warnings",
    "off",
    "--continue-on-failure",
    "--phases",
    "coverage,fuzzing",
    "--max-examples",
    "3",
    "--exclude-checks",
    "positive_data_acceptance",
    // It can't make packs of chunks; and tus wants 412 where its version is missing, as no other protocol does.
    "--exclude-path-regex",
    "/segments$|^/api/v1/uploads",
];

/// Longer than it ever takes.
const LIMIT_SECS: &str = "900";

/// Runs it against the native host.
pub(super) fn run(schemathesis: &Path, ledge: &Path) -> Result<()> {
    let scratch = Scratch::empty("schemathesis")?;
    let log = PathBuf::from("build/test/schemathesis-local.log");
    let (server, administrator) = local::start(ledge, scratch.folder(), &[], &log)?;
    let mut command = Command::new("timeout");
    command.arg(LIMIT_SECS).arg(schemathesis).args(["--config-file", "tests/schemathesis.toml", "run"]);
    command.arg(format!("{}/api/v1/openapi.json", server.url())).args(OPTIONS);
    command.env("LEDGE_TEST_TOKEN", &administrator.token).env("LEDGE_TEST_SPACE", &administrator.space);
    let said = process::quiet(&mut command, &format!("the server's own words are in {}", log.display()))?;
    let after =
        |word: &str| said.lines().find_map(|line| line.trim().strip_prefix(word)?.trim().split('/').next());
    let (selected, tested) = (after("Selected:"), after("Tested:"));
    ensure!(selected.is_some() && selected == tested, "not every operation was tested:\n{said}");
    let cases =
        said.lines().find(|line| line.contains(" generated, ")).context("it tells no number of cases")?;
    println!("schemathesis: {} operations, {}", tested.unwrap_or_default(), cases.trim());
    Ok(())
}
