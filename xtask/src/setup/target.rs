//! The compiler for WebAssembly: rustup's where it can download the targets, else Debian's.
//!
//! `LEDGE_WASM_TOOLCHAIN=rustup` or `=debian` takes the choice away.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::debian;
use crate::process;

/// Cloudflare Workers.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
/// Spin.
pub(crate) const SPIN_TARGET: &str = "wasm32-wasip2";
/// Every target. A host with another one adds it here.
pub(super) const TARGETS: [&str; 2] = [TARGET, SPIN_TARGET];

/// A compiler that has the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The one that compiles everything else, too.
    Rustup,
    /// Debian's packages, with a standard library for WebAssembly that was built from their sources.
    Debian,
}

impl Toolchain {
    /// A program that finds this compiler as `rustc` and `cargo` on its path, and npm's programs before them.
    pub(crate) fn command(self, program: &str) -> Result<Command> {
        let npm = process::npm_bin()?;
        let mut command = Command::new(program);
        match self {
            Self::Rustup => command.env("PATH", process::path_with(&[&npm])?),
            Self::Debian => {
                for inherited in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "LD_LIBRARY_PATH"] {
                    command.env_remove(inherited);
                }
                command.env("PATH", process::path_with(&[&npm, Path::new(debian::BIN)])?)
            }
        };
        // A Worker is loaded more often than it computes: small code starts sooner. Cargo.toml excepts what handles bytes.
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s");
        // wasm-bindgen's macro reads it; worker-build sets it, and cargo must see the same in every build.
        command.env("WASM_BINDGEN_USE_JS_SYS", "1");
        Ok(command)
    }

    /// Whether it can compile for every target.
    fn is_ready(self) -> Result<bool> {
        if self == Self::Debian {
            return Ok(debian::is_ready());
        }
        for target in TARGETS {
            let mut rustc = self.command("rustc")?;
            let output = rustc.args(["--print", "target-libdir", "--target", target]).output();
            let Ok(output) = output else { return Ok(false) };
            let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            if !output.status.success() || !has_std(Path::new(&folder)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether a folder holds a standard library.
pub(super) fn has_std(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| file.file_name()).any(|name| name.to_string_lossy().starts_with("libstd-"))
}

/// Finds a compiler with the targets, or makes one.
pub(super) fn provide() -> Result<Toolchain> {
    match std::env::var("LEDGE_WASM_TOOLCHAIN").as_deref() {
        Ok("rustup") => return through_rustup().map(|()| Toolchain::Rustup),
        Ok("debian") => return through_debian().map(|()| Toolchain::Debian),
        Ok("") | Err(_) => {}
        Ok(other) => bail!("LEDGE_WASM_TOOLCHAIN is {other:?}; it can be rustup or debian"),
    }
    for ready in [Toolchain::Rustup, Toolchain::Debian] {
        if ready.is_ready()? {
            return Ok(ready);
        }
    }
    let Err(no_rustup) = through_rustup() else { return Ok(Toolchain::Rustup) };
    eprintln!("set-up: {no_rustup:#}; trying Debian's packages");
    through_debian().map(|()| Toolchain::Debian).context(
        "no compiler for WebAssembly: where rustup has a network, `rustup target add wasm32-unknown-unknown \
         wasm32-wasip2` is all it takes; elsewhere Debian 12 or later can build one",
    )
}

fn through_rustup() -> Result<()> {
    if Toolchain::Rustup.is_ready()? {
        return Ok(());
    }
    let targets = TARGETS.join(" and ");
    super::announce(&format!("{targets}, through rustup"), "seconds, a download of 40 MB");
    process::quiet(
        Command::new("rustup").args(["target", "add"]).args(TARGETS),
        "rustup could not download the targets",
    )?;
    Ok(())
}

fn through_debian() -> Result<()> {
    if Toolchain::Debian.is_ready()? { Ok(()) } else { debian::build_targets() }
}
