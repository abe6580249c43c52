//! The set-up: everything that the other commands need, in pinned versions.
//!
//! Each step is skipped when it is done, can be interrupted and run again, and says before it starts how long
//! it may take. npm's packages lie in the checkout; tools that are compiled lie outside it, by version, so that
//! every checkout shares them.

mod clients;
mod debian;
mod npm;
mod schemathesis;
mod spin;
mod target;
mod tools;
mod viewer;

use std::path::PathBuf;

use anyhow::Result;

pub(crate) use clients::{Clients, clients};
pub(crate) use schemathesis::schemathesis;
pub(crate) use spin::{SpinHost, spin_host};
pub(crate) use target::{SPIN_TARGET, TARGET, Toolchain};
pub(crate) use tools::s3s_fs;

/// What the set-up provides.
pub(crate) struct Tools {
    /// Compiles to WebAssembly.
    pub(crate) wasm: Toolchain,
    /// `wasm-bindgen`, in the version of Cargo.lock.
    pub(crate) wasm_bindgen: PathBuf,
    /// `worker-build`.
    pub(crate) worker_build: PathBuf,
}

/// Does whatever is not done yet.
pub(crate) fn run() -> Result<Tools> {
    let wasm = target::provide()?;
    let wasm_bindgen = tools::wasm_bindgen()?;
    let worker_build = tools::worker_build()?;
    npm::provide()?;
    viewer::provide()?;
    Ok(Tools { wasm, wasm_bindgen, worker_build })
}

/// Only what the Spin components are compiled with.
pub(crate) fn spin() -> Result<Toolchain> {
    if let Err(error) = viewer::provide() {
        eprintln!("set-up: the page /docs will show no viewer: {error:#}");
    }
    target::provide()
}

/// Announces a step that takes a while.
fn announce(what: &str, how_long: &str) {
    eprintln!("set-up: {what} ({how_long})");
}
