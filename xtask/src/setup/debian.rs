//! The compiler for WebAssembly from Debian's packages, for machines where rustup can't download.
//!
//! Debian ships rustc with the sources of its standard library, but no standard library for WebAssembly. This builds
//! one for each target, once, from those sources, and puts it where rustc looks. Debian has no linker for them either;
//! rustup's toolchain brings one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::target::{SPIN_TARGET, TARGETS, Toolchain, has_std};
use crate::process;
use crate::stamp::{Stamp, make_folder, remove_folder};

/// Where Debian puts its compiler.
pub(super) const BIN: &str = "/usr/bin";
const RUSTC: &str = "/usr/bin/rustc";

const PACKAGES: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy", "wasi-libc"];
const RUSTLIB: &str = "/usr/lib/rustlib";
const STAMP: &str = "ledge-built-by";

/// Where Debian's `wasi-libc` lies, and what of it the linker needs for [`SPIN_TARGET`].
const WASI_LIBC: &str = "/usr/lib/wasm32-wasi";
const WASI_PARTS: [&str; 3] = ["crt1-command.o", "crt1-reactor.o", "libc.a"];

/// Builds the standard libraries that aren't there yet, and sees to a linker.
pub(super) fn build_targets() -> Result<()> {
    install_packages()?;
    link_linker()?;
    TARGETS.into_iter().filter(|target| !has_own_std(target)).try_for_each(build)
}

fn build(target: &'static str) -> Result<()> {
    super::announce(
        &format!("a standard library for {target}, from Debian's sources"),
        "about two minutes, once",
    );
    let work = std::env::temp_dir().join(format!("ledge-std-{}", std::process::id()));
    let built = compile(target, &work).and_then(|folder| install(target, &folder));
    remove_folder(&work)?;
    built?;
    // cargo doesn't notice that the standard library has changed.
    remove_folder(&Path::new("target").join(target))
}

fn install_packages() -> Result<()> {
    if process::succeeds(Command::new("dpkg").arg("--status").args(PACKAGES)) {
        return Ok(());
    }
    super::announce(
        &format!("Debian's packages {}", PACKAGES.join(", ")),
        "a minute or two, a download of 200 MB",
    );
    let advice = format!(
        "become root and run `apt-get update && apt-get install {}`, then run the command again",
        PACKAGES.join(" ")
    );
    process::quiet(Command::new("apt-get").arg("update"), &advice)?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "--yes", "--no-install-recommends"]);
    process::quiet(install.args(PACKAGES), &advice)?;
    Ok(())
}

/// Whether Debian's rustc has all that it takes: standard libraries of its own version, and a linker.
pub(super) fn is_ready() -> bool {
    TARGETS.into_iter().all(has_own_std) && has_linker()
}

/// Where rustc looks for a target's standard library.
fn place(target: &str) -> PathBuf {
    Path::new(RUSTLIB).join(target).join("lib")
}

/// The stamp says which compiler built it. One without a stamp is Debian's own.
fn has_own_std(target: &str) -> bool {
    let place = place(target);
    let stamp = Stamp::at(place.join(STAMP));
    has_std(&place) && (!stamp.exists() || version().is_ok_and(|version| stamp.is(&version)))
}

fn version() -> Result<String> {
    process::quiet(Command::new(RUSTC).arg("--version"), "reinstall rustc-web")
}

fn has_linker() -> bool {
    host_bin().is_ok_and(|folder| Path::new("/usr/lib").join(folder).join("rust-lld").is_file())
}

/// The folder of the compiler's own programs, within the `lib` folder of any toolchain.
fn host_bin() -> Result<PathBuf> {
    let host = process::quiet(Command::new(RUSTC).args(["--print", "host-tuple"]), "reinstall rustc-web")?;
    Ok(Path::new("rustlib").join(host.trim()).join("bin"))
}

/// Lets Debian's rustc find rustup's `rust-lld`. A link, since a copy would not find its LLVM library.
fn link_linker() -> Result<()> {
    if has_linker() {
        return Ok(());
    }
    let folder = host_bin()?;
    let sysroot = process::quiet(
        Command::new("rustc").args(["--print", "sysroot"]),
        "install Rust through rustup: Debian's packages have no linker for WebAssembly",
    )?;
    let theirs = Path::new(sysroot.trim()).join("lib").join(&folder);
    anyhow::ensure!(
        theirs.join("rust-lld").is_file(),
        "there is no rust-lld in {}; install Rust through rustup, which brings it",
        theirs.display()
    );
    let link = Path::new("/usr/lib").join(&folder);
    if link.is_symlink() {
        // It led to a toolchain that is gone.
        fs::remove_file(&link).with_context(|| format!("can't remove {}", link.display()))?;
    }
    symlink(&theirs, &link).with_context(|| {
        format!(
            "can't link {} to {}; move what is there, and run this as root",
            link.display(),
            theirs.display()
        )
    })
}

/// Compiles the standard library as a by-product of an empty crate, and gives the folder of its parts.
fn compile(target: &str, work: &Path) -> Result<PathBuf> {
    make_folder(&work.join("src"))?;
    write(work, "src/lib.rs", "#![no_std]\n")?;
    write(work, "Cargo.toml", "[package]\nname = \"nothing\"\nedition = \"2024\"\n[workspace]\n")?;
    let mut cargo = Toolchain::Debian.command("cargo")?;
    cargo
        .current_dir(work)
        .env("RUSTC", RUSTC)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", work.join("target"));
    // Without the bitcode, link-time optimisation fails.
    cargo.env("RUSTFLAGS", "-Cembed-bitcode=yes");
    cargo.args([
        "build",
        "--quiet",
        "--release",
        "-Zbuild-std=std,panic_abort,proc_macro,test",
        "--target",
        target,
    ]);
    process::show(&mut cargo, "reinstall rust-web-src, and run the command again")?;
    Ok(work.join("target").join(target).join("release/deps"))
}

fn write(work: &Path, name: &str, content: &str) -> Result<()> {
    let path = work.join(name);
    fs::write(&path, content).with_context(|| format!("can't write {}", path.display()))
}

/// Copies the parts to a folder beside the place where rustc looks, then moves that there.
fn install(target: &str, parts: &Path) -> Result<()> {
    let place = place(target);
    let partial = place.with_extension("partial");
    let advice = || format!("can't write {}; run this as root, once", partial.display());
    remove_folder(&partial).with_context(advice)?;
    fs::create_dir_all(&partial).with_context(advice)?;
    for part in fs::read_dir(parts).context("the build left no folder")? {
        let part = part.context("can't read the build's folder")?;
        let name = part.file_name();
        let text = name.to_string_lossy();
        if text.ends_with(".rlib") && !text.starts_with("libnothing-") {
            fs::copy(part.path(), partial.join(&name)).with_context(advice)?;
        }
    }
    anyhow::ensure!(has_std(&partial), "the build made no standard library; please report this");
    if target == SPIN_TARGET {
        // rustup's target brings its C library along; Debian's lies elsewhere.
        let own = partial.join("self-contained");
        fs::create_dir_all(&own).with_context(advice)?;
        for part in WASI_PARTS {
            fs::copy(Path::new(WASI_LIBC).join(part), own.join(part))
                .with_context(|| format!("can't copy {WASI_LIBC}/{part}; reinstall wasi-libc"))?;
        }
    }
    Stamp::at(partial.join(STAMP)).set(&version()?)?;
    remove_folder(&place)?;
    fs::rename(&partial, &place).with_context(advice)
}
