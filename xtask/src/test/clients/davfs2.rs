//! davfs2: the drive mounted as a file system (davfs2.sh), where the machine lets one mount.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Site;
use crate::process;
use crate::setup::Clients;
use crate::test::libtest::{Verdict, Verdicts};

const SCRIPT: &str = include_str!("davfs2.sh");

/// Everything goes to the server at once and is asked for again, with locks, and without a question. The kernel asks for
/// more of a listing at once than fits the usual buffer.
const CONFIGURATION: &str = "\
secrets SECRETS
cache_dir CACHE
ask_auth 0
use_locks 1
delay_upload 0
dir_refresh 1
file_refresh 0
gui_optimize 0
buf_size 1024
";

pub(super) fn run(clients: &Clients, site: &Site<'_>) -> Result<Verdicts> {
    if let Err(reason) = can_mount() {
        eprintln!("davfs2 is skipped: {reason}");
        return Ok(steps().map(|name| (name.to_owned(), Verdict::Skipped)).collect());
    }
    for (file, line) in [("passwd", "davfs2:x:0:0::/:/bin/false\n"), ("group", "davfs2:x:0:\n")] {
        let path = Path::new("/etc").join(file);
        let known = fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
        site.write(file, known + line)?;
    }
    let configuration = CONFIGURATION.replace("SECRETS", &site.path("secrets").to_string_lossy());
    let configuration = configuration.replace("CACHE", &site.path("cache").to_string_lossy());
    site.write("davfs2.conf", configuration)?;
    let secrets = site.write("secrets", format!("{} davfs2 {}\n", site.url, site.token))?;
    process::quiet(Command::new("chmod").arg("600").arg(&secrets), "check the folder's rights")?;
    site.write("large", vec![b'l'; 3_000_000])?;
    let script = site.write("davfs2.sh", SCRIPT)?;

    let davfs2 = clients.command("usr/sbin")?;
    let mut program = Command::new("unshare");
    program.args(["--mount", "--propagation", "private", "sh"]).arg(script);
    program.env("DAVFS2", davfs2.get_program()).env("URL", &site.url);
    program.envs(davfs2.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let (_, said) = site.ask(program, None)?;
    let verdicts: Verdicts = steps().map(|name| (name.to_owned(), verdict(name, &said))).collect();
    if verdicts.iter().any(|(_, verdict)| *verdict == Verdict::Failed) {
        eprintln!("davfs2:\n{said}");
    }
    Ok(verdicts)
}

/// Why davfs2 can't be tried here.
fn can_mount() -> Result<(), &'static str> {
    if !Path::new("/dev/fuse").exists() {
        return Err("there is no /dev/fuse");
    }
    let mut unshare = Command::new("unshare");
    let tried = unshare.args(["--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/run"]);
    if process::succeeds(tried) { Ok(()) } else { Err("only root may mount, in a namespace of its own") }
}

/// The names of the steps.
fn steps() -> impl Iterator<Item = &'static str> {
    SCRIPT.lines().filter_map(|line| line.strip_prefix("step ")?.split(' ').next())
}

/// A step that says nothing has failed.
fn verdict(step: &str, said: &str) -> Verdict {
    let ok = format!("step {step} ok");
    if said.lines().any(|line| line == ok) { Verdict::Passed } else { Verdict::Failed }
}
