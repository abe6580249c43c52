//! The ports' conformance suite inside workerd, through the Worker in tests/worker; and on the native host over S3.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::blackbox;
use super::libtest::{Program, Programs, Verdict, Verdicts};
use super::scratch::Scratch;
use crate::build::Worker;
use crate::store::Store;
use crate::{process, setup, workerd};

/// Where what the Worker says goes.
const LOG: &str = "build/test/conformance.log";

/// Whether a test program is the suite over S3.
pub(super) fn needs_store(program: &Program) -> bool {
    program.package == "ledge-conformance" && program.target == "s3"
}

/// Runs the suite on the native host over a bucket of each of the two stores.
pub(super) fn on_local_s3(programs: &Programs) -> Result<Verdicts> {
    let program = programs.tests.iter().find(|program| needs_store(program));
    let program = program.context("the crate ledge-conformance has no test s3")?;
    let mut verdicts = Verdicts::new();
    for name in ["s3s-fs", "miniflare"] {
        let scratch = Scratch::empty(&format!("conformance-{name}"))?;
        let log = blackbox::log("s3", &format!("conformance-{name}"));
        let store = match name {
            "miniflare" => Store::miniflare(scratch.folder(), &log)?,
            _ => Store::start(&setup::s3s_fs()?, scratch.folder(), &log)?,
        };
        let of_store = store.variables().into_iter().chain([("LEDGE_TEST_STORE", name)]);
        let variables: Vec<_> = of_store.map(|(name, value)| (name, value.to_owned())).collect();
        verdicts.extend(program.run(false, &variables)?);
    }
    Ok(verdicts)
}

/// Runs the suite.
pub(super) fn on_workerd() -> Result<Verdicts> {
    let scratch = Scratch::empty("conformance")?;
    let workerd = workerd::start(&workerd::Options {
        state: scratch.folder(),
        port: 0,
        workers: workerd::built(&[Worker::Conformance]),
        variables: &[],
        objects: &[],
        tick_secs: 60,
        log: Some(Path::new(LOG)),
    })?;
    let mut get = process::npm_program("node")?;
    get.arg("xtask/js/get.mjs").arg(format!("{}/conformance", workerd.url()));
    let answer = process::quiet(&mut get, &format!("what the Worker said stands in {LOG}"))?;
    read(&answer)
}

/// Reads `{"passed": [name, …], "failed": [{"name": …, "reason": …}, …]}`.
fn read(answer: &str) -> Result<Verdicts> {
    let answer: Value = serde_json::from_str(answer).context("the conformance Worker answered no JSON")?;
    let list = |name: &str| {
        let list = answer.get(name).and_then(Value::as_array).cloned();
        list.with_context(|| format!("the conformance Worker's answer has no list {name:?}"))
    };
    let mut verdicts = Verdicts::new();
    for name in list("passed")? {
        verdicts.push((name.as_str().unwrap_or_default().to_owned(), Verdict::Passed));
    }
    for failure in list("failed")? {
        let text = |field: &str| failure.get(field).and_then(Value::as_str).unwrap_or("?").to_owned();
        eprintln!("{} FAILED: {}", text("name"), text("reason"));
        verdicts.push((text("name"), Verdict::Failed));
    }
    anyhow::ensure!(!verdicts.is_empty(), "the conformance Worker ran no test");
    Ok(verdicts)
}
