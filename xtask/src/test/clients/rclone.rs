//! rclone: a tree is synchronised, compared, moved, read in parts and removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::{Site, Steps, same};
use crate::setup::Clients;
use crate::test::libtest::Verdicts;

/// Names that a server gets wrong if it decodes, encodes or escapes once too often or too rarely.
const TREE: [(&str, &str); 9] = [
    ("plain.txt", "plain"),
    ("empty", ""),
    ("a & b <c>.txt", "escaped"),
    ("100% #1?.md", "encoded"),
    ("a%20b.txt", "not decoded twice"),
    ("d\u{e9}j\u{e0} vu/\u{4f60}\u{597d} \u{1f9ff}.txt", "far away"),
    ("deep/er/still/x", "deep"),
    ("[brackets]+plus;semi,comma'quote.txt", "sub-delims"),
    ("A.TXT", "case counts"),
];

pub(super) fn run(clients: &Clients, site: &Site<'_>) -> Result<Verdicts> {
    let rclone = Rclone::set_up(clients, site)?;
    for (name, content) in TREE {
        site.write(&format!("tree/{name}"), content)?;
    }
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    site.write("tree/large.bin", &large)?;

    let mut steps = Steps::default();
    steps.take("sync_uploads_a_tree_with_odd_names", || {
        rclone.run(&["sync", "tree", "ledge:rclone"]).map(drop)
    });
    steps.take("check_finds_no_difference", || rclone.run(&["check", "tree", "ledge:rclone"]).map(drop));
    steps.take("check_by_content_finds_no_difference", || {
        rclone.run(&["check", "--download", "tree", "ledge:rclone"]).map(drop)
    });
    steps.take("a_second_sync_has_nothing_to_do", || {
        let said = rclone.run(&["sync", "--verbose", "tree", "ledge:rclone"])?;
        ensure!(said.contains("nothing to transfer"), "{said}");
        Ok(())
    });
    steps.take("sync_uploads_what_changed_and_removes_what_is_gone", || {
        site.write("tree/plain.txt", "plain, and longer")?;
        fs::remove_file(site.path("tree/A.TXT")).context("can't remove a file")?;
        rclone.run(&["sync", "tree", "ledge:rclone"])?;
        rclone.run(&["check", "--download", "tree", "ledge:rclone"]).map(drop)
    });
    steps.take("sync_downloads_the_same_tree", || {
        rclone.run(&["sync", "ledge:rclone", "back"])?;
        same("the tree that came back", files(&site.path("back"))?, files(&site.path("tree"))?)
    });
    steps.take("ranges_are_read_from_the_middle_and_the_end", || {
        for (offset, count) in [(0_usize, 10_usize), (1_000_000, 70_000), (2_999_990, 10)] {
            let (at, many) = (offset.to_string(), count.to_string());
            let arguments = ["cat", "--offset", &at, "--count", &many, "ledge:rclone/large.bin"];
            let read = rclone.bytes(&arguments)?;
            let wanted = large.get(offset..offset + count).unwrap_or_default();
            ensure!(read == wanted, "{count} bytes from {offset} on are not the file's");
        }
        Ok(())
    });
    steps.take("copyto_and_moveto_work_on_the_server", || {
        rclone.run(&["copyto", "ledge:rclone/large.bin", "ledge:rclone/copy #1.bin"])?;
        rclone.run(&["moveto", "ledge:rclone/copy #1.bin", "ledge:rclone/new/moved.bin"])?;
        let listed = rclone.run(&["lsf", "--files-only", "--recursive", "ledge:rclone"])?;
        ensure!(listed.contains("new/moved.bin") && !listed.contains("copy #1.bin"), "{listed}");
        ensure!(
            rclone.bytes(&["cat", "ledge:rclone/new/moved.bin"])? == large,
            "the moved file has other content"
        );
        Ok(())
    });
    steps.take("a_folder_is_moved_as_a_whole", || {
        rclone.run(&["moveto", "ledge:rclone/deep", "ledge:rclone/elsewhere"])?;
        let listed = rclone.run(&["lsf", "--files-only", "--recursive", "ledge:rclone"])?;
        ensure!(listed.contains("elsewhere/er/still/x") && !listed.contains("deep/er"), "{listed}");
        Ok(())
    });
    steps.take("free_space_is_asked_for_without_an_error", || rclone.run(&["about", "ledge:"]).map(drop));
    steps.take("delete_and_purge_remove_files_and_folders", || {
        rclone.run(&["deletefile", "ledge:rclone/large.bin"])?;
        rclone.run(&["delete", "ledge:rclone/new"])?;
        rclone.run(&["purge", "ledge:rclone"])?;
        let listed = rclone.run(&["lsf", "ledge:"])?;
        ensure!(!listed.contains("rclone"), "{listed}");
        Ok(())
    });
    Ok(steps.0)
}

pub(super) struct Rclone<'a> {
    clients: &'a Clients,
    site: &'a Site<'a>,
}

impl<'a> Rclone<'a> {
    /// Writes its configuration: a password is kept obscured.
    pub(super) fn set_up(clients: &'a Clients, site: &'a Site<'a>) -> Result<Self> {
        let rclone = Self { clients, site };
        site.write("rclone.conf", "")?;
        let password = rclone.run(&["obscure", site.token])?;
        let remote = format!(
            "[ledge]\ntype = webdav\nvendor = other\nurl = {}\nuser = rclone\npass = {}\n",
            site.url,
            password.trim()
        );
        site.write("rclone.conf", remote)?;
        Ok(rclone)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.clients.rclone);
        command.arg("--config").arg(self.site.path("rclone.conf"));
        // It must not hide an error by trying again, nor wait a minute for it.
        command.args([
            "--retries",
            "1",
            "--low-level-retries",
            "1",
            "--timeout",
            "60s",
            "--contimeout",
            "10s",
        ]);
        command.arg("--cache-dir").arg(self.site.path("cache")).args(arguments);
        command
    }

    /// Gives all that it said.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String> {
        let (succeeded, said) = self.site.ask(self.command(arguments), None)?;
        if !succeeded {
            bail!("`rclone {}` failed:\n{said}", arguments.join(" "));
        }
        Ok(said)
    }

    /// Gives its standard output as bytes.
    fn bytes(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let mut command = self.command(arguments);
        let output = command.current_dir(&self.site.folder).output().context("can't run rclone")?;
        if !output.status.success() {
            bail!("`rclone {}` failed:\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.stdout)
    }
}

/// Every file below a folder, with its content.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))? {
        let entry = entry.context("can't read a folder")?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(
                files(&entry.path())?
                    .into_iter()
                    .map(|(below, content)| (format!("{name}/{below}"), content)),
            );
        } else {
            found.insert(name, fs::read(entry.path()).context("can't read a file")?);
        }
    }
    Ok(found)
}
