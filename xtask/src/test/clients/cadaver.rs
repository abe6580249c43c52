//! cadaver: one session at its prompt; it says of each command whether it succeeded.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::{Site, Steps, same};
use crate::setup::Clients;
use crate::test::libtest::{Verdicts, tally};

/// A command, and what it must have said before the next prompt.
const SESSION: [(&str, &str); 22] = [
    ("mkcol one", "succeeded."),
    ("cd one", ""),
    ("put up.txt", "succeeded."),
    ("put up.txt \"caf\u{e9} #1.txt\"", "succeeded."),
    ("propset up.txt colour blue", "succeeded."),
    ("propget up.txt colour", "Value of colour is: blue"),
    ("propnames up.txt", "colour"),
    ("copy up.txt two.txt", "succeeded."),
    ("move two.txt three.txt", "succeeded."),
    ("copy ../one ../copied", "succeeded."),
    ("lock three.txt", "succeeded."),
    ("discover three.txt", "ldg:"),
    ("put up.txt three.txt", "succeeded."),
    ("unlock three.txt", "succeeded."),
    ("discover three.txt", "no locks found"),
    ("ls", "caf\u{e9} #1.txt"),
    ("get three.txt down.txt", "succeeded."),
    ("delete three.txt", "succeeded."),
    ("mkcol sub", "succeeded."),
    ("cd ..", ""),
    ("rmcol one", "succeeded."),
    ("rmcol copied", "succeeded."),
];

pub(super) fn run(clients: &Clients, site: &Site<'_>) -> Result<Verdicts> {
    site.write(".netrc", format!("machine 127.0.0.1\nlogin cadaver\npassword {}\n", site.token))?;
    let content = "what cadaver sends\n";
    site.write("up.txt", content)?;
    let commands: Vec<&str> = SESSION.iter().map(|(command, _)| *command).collect();
    let script = site.write("script", format!("{}\nquit\n", commands.join("\n")))?;
    let mut program = clients.command("usr/bin/cadaver")?;
    program.arg(&site.url);
    let (succeeded, said) = site.ask(program, Some(&script))?;
    ensure!(succeeded, "cadaver broke off:\n{said}");

    let mut steps = Steps::default();
    // Each command is echoed at its prompt.
    let answers: Vec<&str> =
        said.split("\ndav:").flat_map(|part| part.split_once("> ")).map(|(_, rest)| rest).collect();
    for (n, (command, expected)) in SESSION.iter().enumerate() {
        let words: String =
            command.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        steps.take(&format!("{n:02}_{words}"), || {
            let answer = answers.get(n).copied().unwrap_or_default();
            if !answer.starts_with(command) || !answer.contains(expected) || answer.contains("failed") {
                bail!("`{command}` was to say {expected:?}, and said:\n{answer}");
            }
            Ok(())
        });
    }
    steps.take("what_comes_back_is_what_was_sent", || {
        let came = fs::read_to_string(site.path("down.txt")).context("nothing came back")?;
        same("the file", came.as_str(), content)
    });
    if tally(&steps.0).failed > 0 {
        eprintln!("the whole session:\n{said}");
    }
    Ok(steps.0)
}
