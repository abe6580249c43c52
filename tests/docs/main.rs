//! The manual's commands, run as they stand, in order, as somebody would who reads it from the top. They begin on an empty
//! drive.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ledge_tests::Drive;

/// Around the commands: a failure anywhere ends the run and is shown with its line in the manual; every run of curl is
/// counted, and an error status is a failure. `Expect:` as the manual advises for workerd.
const PRELUDE: &str = "
set -euo pipefail
shopt -s inherit_errexit
trap 'echo \"FAILED in the block at line $block: $BASH_COMMAND\" >&2' ERR
set -E
curl() {
  echo run >> \"$RUNS\"
  command curl --fail --silent --show-error --max-time 120 -H Expect: \"$@\"
}
";

/// A fenced block of shell.
struct Block {
    line: usize,
    /// Why it isn't run, as the manual says itself: ```` ```sh not run: REASON ````.
    reason: Option<String>,
    text: String,
}

fn blocks(manual: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (line, text) in (1..).zip(manual.lines()) {
        match text.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(info) if info == "sh" || info.starts_with("sh ") => {
                open = true;
                let reason = info.strip_prefix("sh not run: ").map(str::to_owned);
                assert!(
                    reason.is_some() || info == "sh",
                    "line {line}: {info:?} is neither run nor says why"
                );
                blocks.push(Block { line, reason, text: String::new() });
            }
            _ if open => {
                let block = blocks.last_mut().unwrap();
                block.text += text;
                block.text.push('\n');
            }
            _ => {}
        }
    }
    assert!(!open, "the last block has no end");
    blocks
}

/// Runs a script in a folder of its own; how often it ran curl.
fn bash(name: &str, script: &str) -> (Output, usize) {
    let scratch = std::env::temp_dir().join(format!("ledge-docs-{name}-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    fs::copy(root().join("README.md"), scratch.join("README.md")).unwrap();
    let runs = scratch.join(".runs");
    fs::write(&runs, "").unwrap();
    let variable = |name: &str| std::env::var(name).unwrap();
    let output = Command::new("bash")
        .args(["-c", &format!("{PRELUDE}{script}")])
        .current_dir(&scratch)
        .env("LEDGE", Drive::absolute(""))
        .env("LEDGE_TOKEN", variable("LEDGE_TEST_TOKEN"))
        .env("LEDGE_SPACE", variable("LEDGE_TEST_SPACE"))
        .env("RUNS", &runs)
        .output()
        .unwrap();
    let runs = fs::read_to_string(&runs).unwrap().lines().count();
    fs::remove_dir_all(&scratch).unwrap();
    (output, runs)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// How many commands call curl.
fn calls(text: &str) -> usize {
    text.split(|c: char| c.is_whitespace() || c == '(').filter(|word| *word == "curl").count()
}

fn expect_success((output, runs): (Output, usize), at_least: usize) {
    let said =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(runs >= at_least && at_least > 0, "{runs} of {at_least} calls of curl were made: {said}");
}

/// Runs a manual's commands in order.
fn run_manual(name: &str) {
    let manual = fs::read_to_string(root().join(format!("docs/{name}.md"))).unwrap();
    let mut script = String::new();
    let mut expected = 0;
    for block in blocks(&manual) {
        if let Some(reason) = &block.reason {
            println!("docs/{name}.md, line {}, is not run: {reason}", block.line);
            continue;
        }
        expected += calls(&block.text);
        script += &format!("block={}\n{}", block.line, block.text);
    }
    expect_success(bash(name, &script), expected);
}

#[test]
fn every_command_of_the_api_manual_works_as_it_stands() {
    run_manual("API");
}

#[test]
fn every_command_of_the_manual_of_uploads_works_as_it_stands() {
    run_manual("UPLOADS");
}

#[test]
fn every_command_of_the_manual_of_delta_saves_works_as_it_stands() {
    run_manual("DELTA");
}

#[test]
fn every_command_of_the_manual_of_thumbnails_works_as_it_stands() {
    run_manual("THUMBNAILS");
}

#[test]
fn the_commands_about_backups_work_as_they_stand() {
    run_manual("BACKUP");
}

#[test]
fn the_commands_of_the_readme_work() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let commands: Vec<String> = readme
        .lines()
        .filter(|line| line.starts_with("curl "))
        .map(|line| {
            line.replace("Bearer ldg_…\"", "Bearer $LEDGE_TOKEN\"")
                .replace("http://127.0.0.1:8787", "$LEDGE")
                .replace("/spaces/…/", "/spaces/$LEDGE_SPACE/")
        })
        .collect();
    expect_success(bash("readme", &format!("block=README\n{}", commands.join("\n"))), commands.len());
}
