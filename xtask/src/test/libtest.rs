//! Rust's own test programs: compiled once, all together, then run one by one and understood by their output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;
use crate::report::Tally;

/// A compiled test program.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// The crate that it tests.
    pub(super) package: String,
    /// The crate's target: its library, or one of its integration tests.
    pub(super) target: String,
    path: PathBuf,
    folder: PathBuf,
}

/// Everything that `cargo` compiled for the tests.
pub(super) struct Programs {
    /// The test programs.
    pub(super) tests: Vec<Program>,
    /// The command line, `ledge`.
    pub(super) ledge: PathBuf,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
    Skipped,
}

impl Verdict {
    /// One word for a table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        }
    }
}

/// Tests by name.
pub(super) type Verdicts = Vec<(String, Verdict)>;

/// Counts verdicts.
pub(super) fn tally(verdicts: &Verdicts) -> Tally {
    let count = |wanted| verdicts.iter().filter(|(_, verdict)| *verdict == wanted).count();
    Tally { passed: count(Verdict::Passed), failed: count(Verdict::Failed), skipped: count(Verdict::Skipped) }
}

/// Compiles everything in the workspace with one choice of features, so that nothing is compiled twice.
pub(super) fn compile() -> Result<Programs> {
    let mut cargo = process::cargo();
    cargo.args(["build", "--workspace", "--all-targets", "--message-format=json-render-diagnostics"]);
    let output = cargo.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("can't run cargo")?;
    anyhow::ensure!(
        output.status.success(),
        "the tests don't compile; the compiler's messages above say why"
    );
    let mut programs = Programs { tests: Vec::new(), ledge: PathBuf::new() };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let Some(path) = message.get("executable").and_then(Value::as_str).map(PathBuf::from) else {
            continue;
        };
        let text =
            |pointer: &str| message.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let target = text("/target/name");
        let folder = Path::new(&text("/manifest_path")).parent().map(Path::to_path_buf).unwrap_or_default();
        if message.pointer("/profile/test") == Some(&Value::Bool(true)) {
            let package = package_name(&folder)?;
            programs.tests.push(Program { package, target, path, folder });
        } else if target == "ledge" {
            programs.ledge = path;
        }
    }
    anyhow::ensure!(programs.ledge.is_file(), "cargo made no program `ledge`; the crate cli must have it");
    programs.tests.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    Ok(programs)
}

fn package_name(folder: &Path) -> Result<String> {
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| format!("can't read {}", manifest.display()))?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    name.map(str::to_owned).with_context(|| format!("{} has no line `name = \"…\"`", manifest.display()))
}

impl Program {
    /// What to call it in messages.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.package, self.target)
    }

    /// Runs it, with the tests that are too long for everyday if `full`. What it printed is shown only if something
    /// failed.
    pub(super) fn run(&self, full: bool, environment: &[(&str, String)]) -> Result<Verdicts> {
        let mut command = Command::new(&self.path);
        if full {
            command.arg("--include-ignored");
        }
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).stdin(Stdio::null());
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().with_context(|| format!("can't run the tests of {}", self.title()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut verdicts = read(&text);
        if !output.status.success() && tally(&verdicts).failed == 0 {
            verdicts.push((format!("{} runs to its end", self.target), Verdict::Failed));
        }
        if tally(&verdicts).failed > 0 {
            eprintln!("{text}{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(verdicts)
    }
}

/// Reads the lines `test NAME ... ok`, in which a test can't hide: a test that says nothing has not passed.
fn read(output: &str) -> Verdicts {
    let mut verdicts = Verdicts::new();
    for line in output.lines() {
        let Some((name, verdict)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        else {
            continue;
        };
        let verdict = match verdict.split([',', ' ']).next() {
            Some("ok") => Verdict::Passed,
            Some("ignored") => Verdict::Skipped,
            _ => Verdict::Failed,
        };
        verdicts.push((name.trim_end_matches(" - should panic").to_owned(), verdict));
    }
    verdicts.sort_by(|(a, _), (b, _)| a.cmp(b));
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_test_program_are_understood() {
        let output = "\nrunning 4 tests\ntest b::two ... FAILED\ntest a::one ... ok\ntest c - should panic ... ok\n\
                      test d ... ignored, takes long\n\ntest result: FAILED. 2 passed; 1 failed; 1 ignored\n";
        let verdicts = read(output);
        let names: Vec<_> = verdicts.iter().map(|(name, verdict)| (name.as_str(), verdict.word())).collect();
        assert_eq!(names, [("a::one", "ok"), ("b::two", "FAILED"), ("c", "ok"), ("d", "skipped")]);
        assert_eq!(tally(&verdicts), Tally { passed: 2, failed: 1, skipped: 1 });
    }
}
