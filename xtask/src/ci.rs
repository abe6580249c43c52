//! `cargo xtask ci`: everything that must hold before a change lands. Every stage runs, even after a failure,
//! as long as it can.

use anyhow::{Result, bail};

use crate::build::{self, Size, Worker};
use crate::report::{Report, Tally};
use crate::setup::{self, SPIN_TARGET, TARGET, Tools};
use crate::{process, test};

/// `cargo xtask ci`.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    if let Some(tools) = report.stage("set-up", || Ok((Tally::NOTHING, setup::run()?))) {
        stages(&mut report, &tools);
    }
    report.close()
}

fn stages(report: &mut Report, tools: &Tools) {
    report.check("formatting", || {
        process::show(process::cargo().args(["fmt", "--all", "--check"]), "run `cargo fmt --all`")?;
        // A workspace of its own.
        let arguments = ["fmt", "--check", "--manifest-path", "tests/spin-host/Cargo.toml"];
        process::show(process::cargo().args(arguments), "run `cargo fmt` in tests/spin-host")
    });
    report.check("clippy, native", || {
        let arguments = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
        process::show(process::cargo().args(arguments), "correct what it names above")
    });
    report.check("clippy, WebAssembly for Workers", || clippy_wasm(tools));
    report.check("clippy, WebAssembly for Spin", || clippy_spin(tools));
    if test::stages(report, tools, false).is_none() {
        return;
    }
    let built = report.stage("build the Workers for deployment", || {
        build::build(tools, &Worker::DEPLOYED).map(|()| (Tally::NOTHING, ()))
    });
    if built.is_some() {
        report.check("bundle sizes", bundle_sizes);
        report.check("deploy --dry-run, gateway", || dry_run(Worker::Gateway));
        report.check("deploy --dry-run, functions", || dry_run(Worker::Functions));
    }
}

fn clippy_wasm(tools: &Tools) -> Result<()> {
    let mut cargo = tools.wasm.command("cargo")?;
    cargo.args([
        "clippy",
        "--quiet",
        "--lib",
        "--target",
        TARGET,
        "--features",
        "ledge-gateway/debug-routes",
    ]);
    for package in ["ledge-core", "ledge-hosts", "ledge-gateway", "ledge-functions", "ledge-test-worker"] {
        cargo.args(["--package", package]);
    }
    process::show(cargo.args(["--", "-D", "warnings"]), "correct what it names above")
}

fn clippy_spin(tools: &Tools) -> Result<()> {
    let mut cargo = tools.wasm.command("cargo")?;
    cargo.args(["clippy", "--quiet", "--lib", "--target", SPIN_TARGET]);
    for package in ["ledge-core", "ledge-hosts", "ledge-gateway", "ledge-functions"] {
        cargo.args(["--package", package]);
    }
    process::show(cargo.args(["--", "-D", "warnings"]), "correct what it names above")
}

fn bundle_sizes() -> Result<()> {
    for worker in Worker::DEPLOYED {
        let size = Size::of(worker)?;
        println!("{size}");
        size.check()?;
    }
    Ok(())
}

/// Lets wrangler do all of a deployment but the upload.
fn dry_run(worker: Worker) -> Result<()> {
    let mut wrangler = process::npm_program("wrangler")?;
    wrangler.args(["deploy", "--dry-run", "--config", worker.config()]);
    let said = process::quiet(&mut wrangler, &format!("correct {}", worker.config()))?;
    let bindings = ["env.DB", "env.BUCKET", "env.QUEUE_MAINTENANCE"];
    if let Some(missing) = bindings.iter().find(|binding| !said.contains(*binding)) {
        print!("{said}");
        bail!("{} would deploy without {missing}", worker.config());
    }
    Ok(())
}
