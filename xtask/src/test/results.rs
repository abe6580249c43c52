//! The dated result of a full run, to be committed under tests/results/.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::table::Table;
use crate::process;
use crate::report::Report;
use crate::stamp::make_folder;

const FOLDER: &str = "tests/results";

/// Writes the result of this run; a second one on the same day replaces it.
pub(super) fn keep(report: &Report, table: Option<&Table>) -> Result<()> {
    let date = ask("date", &["-u", "+%Y-%m-%d"])?;
    let commit = ask("git", &["describe", "--always", "--dirty"])?;
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let table = table.map_or("It did not come to the black-box suite.".to_owned(), Table::to_string);
    let text = format!(
        "# Full test run, {date}\n\nCommit {commit}, {cores} cores, {}.\n\n```\n{}\n{table}\n```\n\n{}\n",
        std::env::consts::OS,
        report.table(),
        report.total()
    );
    let path = PathBuf::from(FOLDER).join(format!("{date}.md"));
    make_folder(FOLDER.as_ref())?;
    std::fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))?;
    println!("\nThe result stands in {}; commit it.", path.display());
    Ok(())
}

fn ask(program: &str, arguments: &[&str]) -> Result<String> {
    let answer = process::quiet(Command::new(program).args(arguments), "install it");
    answer.map(|text| text.trim().to_owned())
}
