//! What unpacks ZIP files: unzip, 7-Zip, bsdtar and Python's zipfile get the tree that the archive was made of.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::rclone::Rclone;
use super::{Site, Steps};
use crate::setup::Clients;
use crate::test::libtest::Verdicts;

/// Names in many scripts, and what lies in them.
const TREE: [(&str, &str); 11] = [
    ("plain.txt", "plain"),
    ("empty", ""),
    ("d\u{e9}j\u{e0} vu/\u{4f60}\u{597d} \u{1f9ff}.txt", "far away"),
    ("\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}.md", "Cyrillic"),
    ("\u{645}\u{631}\u{62d}\u{628}\u{627}", "Arabic"),
    ("\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947}", "Devanagari"),
    ("\u{c548}\u{b155}/\u{3053}\u{3093}\u{306b}\u{3061}\u{306f}", "Hangul, hiragana"),
    ("100% #1?.md", "signs"),
    ("[brackets]+plus;semi,comma'quote.txt", "more signs"),
    ("deep/er/still/x", "deep"),
    ("a b/ c ", "spaces"),
];

pub(super) fn run(clients: &Clients, site: &Site<'_>) -> Result<Verdicts> {
    for (name, content) in TREE {
        site.write(&format!("tree/{name}"), content)?;
    }
    fs::create_dir_all(site.path("tree/nothing in here")).context("can't make a folder")?;
    let large: Vec<u8> = (0..9_500_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    site.write("tree/large.bin", &large)?;
    let rclone = Rclone::set_up(clients, site)?;
    rclone.run(&["copy", "--create-empty-src-dirs", "tree", "ledge:tree"])?;

    let mut steps = Steps::default();
    steps.take("curl_downloads_the_archive", || download(site, "tree.zip", &[]));
    steps.take("curl_resumes_it", || {
        let whole = fs::read(site.path("tree.zip")).context("there is no archive")?;
        let half = whole.get(..whole.len() / 2).unwrap_or_default();
        site.write("resumed.zip", half)?;
        download(site, "resumed.zip", &["-C", "-"])?;
        ensure!(
            fs::read(site.path("resumed.zip")).is_ok_and(|resumed| resumed == whole),
            "it is another one"
        );
        Ok(())
    });
    let mut python = Command::new("python3");
    python.args(["-m", "zipfile", "-e", "tree.zip", "by-python"]);
    let readers: [(&str, Result<Command>, &[&str]); 4] = [
        ("unzip", clients.command("usr/bin/unzip"), &["-q", "tree.zip", "-d", "by-unzip"]),
        ("7z", clients.command("usr/bin/7zz"), &["x", "-bd", "-oby-7z", "tree.zip"]),
        ("bsdtar", clients.command("usr/bin/bsdtar"), &["-x", "-f", "tree.zip", "-C", "by-bsdtar"]),
        ("python", Ok(python), &[]),
    ];
    for (name, command, arguments) in readers {
        steps.take(&format!("{name}_unpacks_the_tree_that_was_packed"), || {
            let folder = format!("by-{name}");
            fs::create_dir_all(site.path(&folder)).context("can't make a folder")?;
            let mut command = command?;
            command.args(arguments);
            let (succeeded, said) = site.ask(command, None)?;
            ensure!(succeeded, "{said}");
            let mut diff = Command::new("diff");
            diff.args(["-r", "tree", &format!("{folder}/tree")]);
            let (same, said) = site.ask(diff, None)?;
            ensure!(same, "{said}");
            Ok(())
        });
    }
    Ok(steps.0)
}

fn download(site: &Site<'_>, to: &str, more: &[&str]) -> Result<()> {
    let server = site.url.strip_suffix("/dav/").context("the URL of another place than /dav/")?;
    let spaces = curl(site, &[&format!("{server}/api/v1/spaces")])?;
    let spaces: Value = serde_json::from_str(&spaces).context("the spaces are no JSON")?;
    let space = spaces.pointer("/spaces/0/id").and_then(Value::as_str).context("there is no space")?;
    let url = format!("{server}/api/v1/spaces/{space}/archive/tree");
    curl(site, &[more, &["-o", to, &url]].concat()).map(drop)
}

fn curl(site: &Site<'_>, arguments: &[&str]) -> Result<String> {
    let mut curl = Command::new("curl");
    curl.args(["-sSf", "-H", &format!("Authorization: Bearer {}", site.token)]).args(arguments);
    let (succeeded, said) = site.ask(curl, None)?;
    ensure!(succeeded, "{said}");
    Ok(said)
}
