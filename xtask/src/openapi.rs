//! `cargo xtask openapi`: keeps the OpenAPI document that the handlers describe, for the gateway to serve.

use anyhow::{Context, Result};

use crate::process;

const DOCUMENT: &str = "gateway/openapi.json";

/// Writes the document anew.
pub(crate) fn run() -> Result<()> {
    let mut cargo = process::cargo();
    cargo.args(["run", "--quiet", "--package", "ledge-gateway", "--example", "openapi"]);
    let document = process::quiet(&mut cargo, "correct what the compiler names above")?;
    std::fs::write(DOCUMENT, document).with_context(|| format!("can't write {DOCUMENT}"))
}
