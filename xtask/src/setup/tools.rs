//! Tools that cargo compiles: into a folder by name and version, outside the checkout.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::process;
use crate::stamp;

/// `worker-build` goes with the crate `worker` of the same version.
const WORKER_BUILD: &str = "0.8.7";

/// The S3 store of the tests.
const S3S_FS: &str = "0.14.1";

/// A program to be compiled.
struct Tool<'a> {
    /// The crate's name.
    name: &'static str,
    version: &'a str,
    program: &'static str,
    /// The features that its program needs.
    features: &'static str,
    /// How well to compile it. Everybody waits for the compilation, hardly anybody for what the tools compute.
    opt_level: &'static str,
    /// What to do where it doesn't compile.
    advice: &'a str,
}

/// `wasm-bindgen`, which must be exactly the version of the crate: they share an unversioned format.
pub(super) fn wasm_bindgen() -> Result<PathBuf> {
    let version = locked("wasm-bindgen")?;
    let advice = format!(
        "run the command again, or install version {version}, the one in Cargo.lock, by hand with \
         `cargo install wasm-bindgen-cli --version {version}` and --root {}",
        folder("wasm-bindgen-cli", &version)?.display()
    );
    install(&Tool {
        name: "wasm-bindgen-cli",
        version: &version,
        program: "wasm-bindgen",
        features: "",
        // It reads and writes megabytes of WebAssembly in each build.
        opt_level: "1",
        advice: &advice,
    })
}

/// `worker-build`, which turns a compiled crate into a Worker.
pub(super) fn worker_build() -> Result<PathBuf> {
    let worker = locked("worker")?;
    anyhow::ensure!(
        worker == WORKER_BUILD,
        "Cargo.lock has worker {worker}, but worker-build is pinned at {WORKER_BUILD}; make both the same, \
         in Cargo.toml and in xtask/src/setup/tools.rs"
    );
    install(&Tool {
        name: "worker-build",
        version: WORKER_BUILD,
        program: "worker-build",
        features: "",
        opt_level: "0",
        advice: "if the output names openssl, install its headers and pkg-config (Debian: `apt-get install \
                 libssl-dev pkg-config`); then run the command again",
    })
}

/// `s3s-fs`, an S3 server over a folder.
pub(crate) fn s3s_fs() -> Result<PathBuf> {
    install(&Tool {
        name: "s3s-fs",
        version: S3S_FS,
        program: "s3s-fs",
        features: "binary",
        // It hashes each byte of the tests twice.
        opt_level: "1",
        advice: "run the command again",
    })
}

/// Compiles a tool and gives the path of its program, unless it is there. What an interrupted build made is used
/// by the next one, and the tool takes its place only when it is whole.
fn install(tool: &Tool<'_>) -> Result<PathBuf> {
    let &Tool { name, version, program, features, .. } = tool;
    let home = folder(name, version)?;
    let path = home.join("bin").join(program);
    if path.is_file() {
        return Ok(path);
    }
    super::announce(&format!("compiling {name} {version}"), "some minutes on two cores, once per version");
    let partial = folder(&format!("partial-{name}"), version)?;
    let work = folder(&format!("target-{name}"), version)?;
    // Without --locked: wasm-bindgen-cli's lock file names a yanked crate.
    let mut cargo = process::cargo();
    cargo.args(["install", "--quiet", name, "--bin", program, "--version", &format!("={version}"), "--root"]);
    cargo.arg(&partial).args(["--features", features]).env("CARGO_TARGET_DIR", &work);
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", tool.opt_level);
    process::show(&mut cargo, tool.advice)?;
    stamp::remove_folder(&home)?;
    fs::rename(&partial, &home)
        .with_context(|| format!("can't move {} to {}", partial.display(), home.display()))?;
    stamp::remove_folder(&work)?;
    Ok(path)
}

/// Where a tool lies: `$LEDGE_TOOLS`, or the user's cache folder.
pub(super) fn folder(name: &str, version: &str) -> Result<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let tools = variable("LEDGE_TOOLS")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("ledge/tools")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/ledge/tools")))
        .context("set LEDGE_TOOLS to a folder for compiled tools, since HOME is not set")?;
    Ok(tools.join(format!("{name}-{version}")))
}

/// The version of a crate in Cargo.lock.
fn locked(name: &str) -> Result<String> {
    let lock = fs::read_to_string("Cargo.lock").context("can't read Cargo.lock")?;
    version_in(&lock, name)
        .with_context(|| format!("Cargo.lock names no {name}; run `cargo update -p {name}`"))
}

fn version_in(lock: &str, name: &str) -> Option<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines();
    lines.find(|line| *line == wanted)?;
    let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_the_lock_file() {
        let lock = "[[package]]\nname = \"worker-sys\"\nversion = \"1\"\n\n[[package]]\nname = \"worker\"\nversion = \"0.8.7\"\n";
        assert_eq!(version_in(lock, "worker").as_deref(), Some("0.8.7"));
        assert_eq!(version_in(lock, "work"), None);
    }
}
