//! litmus: the suites of the WebDAV protocol, each of their tests counted by itself.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::Site;
use crate::setup::Clients;
use crate::test::libtest::{Verdict, Verdicts, tally};

const SUITES: [&str; 5] = ["basic", "copymove", "props", "locks", "http"];

/// Tests that can't pass on a host, and why.
const SKIPPED: [(&str, &str, &str); 1] =
    [("workerd", "http::02_expect100", "workerd never sends 100 Continue; a client goes on after a wait")];

pub(super) fn run(clients: &Clients, site: &Site<'_>) -> Result<Verdicts> {
    let mut verdicts = Verdicts::new();
    for suite in SUITES {
        let mut program = clients.command(&format!("usr/libexec/litmus/{suite}"))?;
        program.arg("--htdocs").arg(clients.path("usr/share/litmus/htdocs"));
        // Any user's name goes with a token.
        program.args([&site.url, "litmus", site.token]);
        let (_, said) = site.ask(program, None)?;
        let mut of_suite = read(suite, &said);
        ensure!(said.contains("<- summary for"), "litmus broke off in {suite}:\n{said}");
        for (name, verdict) in &mut of_suite {
            let skipped = SKIPPED.iter().find(|(host, test, _)| *host == site.host && test == name);
            if let (Some((_, _, why)), Verdict::Failed) = (skipped, *verdict) {
                eprintln!("litmus::{name} is skipped: {why}");
                *verdict = Verdict::Skipped;
            }
        }
        let unasked = |line: &&str| line.contains("WARNING");
        said.lines()
            .filter(unasked)
            .for_each(|line| eprintln!("{}", line.rsplit('\r').next().unwrap_or(line)));
        if tally(&of_suite).failed > 0 {
            let log = PathBuf::from(format!("build/test/{}-litmus-{suite}.log", site.host));
            fs::copy(site.path("debug.log"), &log).context("litmus left no debug.log")?;
            eprintln!("{}\nevery request and answer stands in {}", said.replace('\r', "\n"), log.display());
        }
        verdicts.extend(of_suite);
    }
    Ok(verdicts)
}

/// Reads lines like ` 3. put_get............... pass`, written once before and once after each test. A test that was
/// begun and says nothing has failed.
fn read(suite: &str, said: &str) -> Verdicts {
    let mut verdicts = Verdicts::new();
    for piece in said.split(['\n', '\r']) {
        let begun = piece
            .split_once(". ")
            .and_then(|(number, rest)| Some((number.trim().parse::<u32>().ok()?, rest)));
        let after = match begun {
            Some((number, rest)) => {
                let test = rest.split([' ', '.']).next().unwrap_or_default();
                let name = format!("{suite}::{number:02}_{test}");
                if verdicts.last().is_none_or(|(last, _)| *last != name) {
                    verdicts.push((name, Verdict::Failed));
                }
                rest
            }
            None if piece.starts_with("    ....") => piece,
            None => continue,
        };
        let word = after.split_whitespace().find(|word| ["pass", "FAIL", "SKIPPED"].contains(word));
        if let (Some((_, verdict)), Some(word)) = (verdicts.last_mut(), word) {
            *verdict = match word {
                "pass" => Verdict::Passed,
                "SKIPPED" => Verdict::Skipped,
                _ => Verdict::Failed,
            };
        }
    }
    // What litmus skips, it skips after a failure, and a failure that another one hides is still one.
    let failed = |(_, verdict): &&mut (String, Verdict)| *verdict == Verdict::Skipped;
    verdicts.iter_mut().filter(failed).for_each(|(_, verdict)| *verdict = Verdict::Failed);
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_litmus_says_is_understood() {
        let said = "-> running `locks':\n\r 1. begin................. \r 1. begin................. pass\n\
                    \r18. cond_put_corrupt_token WARNING: PUT failed with 412 not 423\n    ...................... \
                    pass (with 1 warning)\n    ...................... \r19. complex_cond_put...... FAIL (why: a pass)\n\
                    \r24. notowner_modify....... SKIPPED\n\r40. finish................ \n";
        let verdicts = read("locks", said);
        let words: Vec<_> = verdicts.iter().map(|(name, verdict)| (name.as_str(), verdict.word())).collect();
        assert_eq!(
            words,
            [
                ("locks::01_begin", "ok"),
                ("locks::18_cond_put_corrupt_token", "ok"),
                ("locks::19_complex_cond_put", "FAILED"),
                ("locks::24_notowner_modify", "FAILED"),
                ("locks::40_finish", "FAILED"),
            ]
        );
    }
}
