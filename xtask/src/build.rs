//! Building the Workers: cargo, then worker-build (wasm-bindgen, wasm-opt, esbuild) where cargo's result changed. And the
//! Spin components, which are what cargo makes.
//!
//! Nothing is downloaded: worker-build is told where each of its tools lies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::process;
use crate::setup::{self, SPIN_TARGET, TARGET, Toolchain, Tools};
use crate::stamp::{Stamp, fingerprint};

/// The gateway's size limit, gzipped. Cloudflare allows 3 MB on the free plan and 10 MB on the paid one; half of the
/// smaller keeps cold starts quick. 213 KiB of it are the viewer at `/docs`, which no start has to compile.
const GATEWAY_LIMIT_BYTES: u64 = 1536 * 1024;

/// A Worker of this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worker {
    /// HTTP in, HTTP out.
    Gateway,
    /// What the queues trigger.
    Functions,
    /// The gateway with the routes that only tests need.
    TestGateway,
    /// Runs the ports' conformance suite. Never deployed.
    Conformance,
}

impl Worker {
    /// What is deployed.
    pub(crate) const DEPLOYED: [Self; 2] = [Self::Gateway, Self::Functions];
    /// What the tests run.
    pub(crate) const TESTED: [Self; 3] = [Self::TestGateway, Self::Functions, Self::Conformance];

    fn name(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Functions => "functions",
            Self::TestGateway => "test/gateway",
            Self::Conformance => "test/conformance",
        }
    }

    fn crate_folder(self) -> &'static str {
        match self {
            Self::Gateway | Self::TestGateway => "gateway",
            Self::Functions => "functions",
            Self::Conformance => "tests/worker",
        }
    }

    fn wasm(self) -> PathBuf {
        let name = match self {
            Self::Gateway | Self::TestGateway => "ledge_gateway.wasm",
            Self::Functions => "ledge_functions.wasm",
            Self::Conformance => "ledge_test_worker.wasm",
        };
        Path::new("target").join(TARGET).join("release").join(name)
    }

    /// The configuration with its bindings.
    pub(crate) fn config(self) -> &'static str {
        match self {
            Self::Gateway | Self::TestGateway => "wrangler.toml",
            Self::Functions => "functions/wrangler.toml",
            Self::Conformance => "tests/worker/wrangler.toml",
        }
    }

    /// Where the built Worker lies.
    pub(crate) fn folder(self) -> PathBuf {
        Path::new("build").join(self.name())
    }
}

/// What `cargo xtask build` was asked for.
pub(crate) struct Options {
    only: Option<Worker>,
    test: bool,
    spin: bool,
}

impl Options {
    /// Reads the command line.
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self> {
        let test = arguments.flag("--test");
        let spin = arguments.flag("--spin");
        let only = match arguments.word().as_deref() {
            None => None,
            Some("gateway") => Some(if test { Worker::TestGateway } else { Worker::Gateway }),
            Some("functions") => Some(Worker::Functions),
            Some(other) => bail!("there is no Worker {other:?}; it can be gateway or functions"),
        };
        arguments.end()?;
        anyhow::ensure!(
            !spin || (only.is_none() && !test),
            "--spin builds both components, and nothing else"
        );
        Ok(Self { only, test, spin })
    }
}

/// `cargo xtask build`.
pub(crate) fn run(options: Options) -> Result<()> {
    if options.spin {
        // `spin build` calls this, and needs nothing of what the Workers need.
        return build_spin(setup::spin()?);
    }
    let tools = setup::run()?;
    match options {
        Options { only: Some(worker), .. } => build(&tools, &[worker])?,
        Options { test: true, .. } => build(&tools, &Worker::TESTED)?,
        Options { .. } => {
            build(&tools, &Worker::DEPLOYED)?;
            build_spin(tools.wasm)?;
        }
    }
    let built = if options.test { Worker::TESTED.as_slice() } else { &Worker::DEPLOYED };
    for &worker in built.iter().filter(|worker| options.only.is_none_or(|only| only == **worker)) {
        println!("{}", Size::of(worker)?);
    }
    Ok(())
}

/// Builds Workers, in order.
pub(crate) fn build(tools: &Tools, workers: &[Worker]) -> Result<()> {
    for &worker in workers {
        compile(tools, worker)?;
        package(tools, worker)?;
    }
    Ok(())
}

/// What cargo is asked for, by this program and then again, in vain, by worker-build. The deployed crates are
/// always compiled together, so that neither's choice of features compiles the other's dependencies again.
fn cargo_options(worker: Worker) -> &'static [&'static str] {
    match worker {
        Worker::Gateway | Worker::Functions => &["-p", "ledge-gateway", "-p", "ledge-functions"],
        Worker::TestGateway => {
            &["-p", "ledge-gateway", "-p", "ledge-functions", "--features", "ledge-gateway/debug-routes"]
        }
        Worker::Conformance => &["-p", "ledge-test-worker"],
    }
}

fn compile(tools: &Tools, worker: Worker) -> Result<()> {
    let mut cargo = tools.wasm.command("cargo")?;
    cargo.current_dir(worker.crate_folder()).args([
        "build",
        "--quiet",
        "--lib",
        "--release",
        "--target",
        TARGET,
    ]);
    if !worker.wasm().exists() {
        eprintln!("build: compiling {} to WebAssembly (some minutes the first time)", worker.name());
    }
    process::show(cargo.args(cargo_options(worker)), "the compiler's messages above say why")
}

/// Builds both Spin components; spin.toml says where they are.
pub(crate) fn build_spin(wasm: Toolchain) -> Result<()> {
    if !Path::new("target").join(SPIN_TARGET).join("release/ledge_gateway.wasm").exists() {
        eprintln!("build: compiling the Spin components (some minutes the first time)");
    }
    let mut cargo = wasm.command("cargo")?;
    cargo.args(["build", "--quiet", "--lib", "--release", "--target", SPIN_TARGET]);
    process::show(
        cargo.args(["-p", "ledge-gateway", "-p", "ledge-functions"]),
        "the compiler's messages above say why",
    )
}

/// Makes a Worker of the compiled crate, unless it has been made of the very same.
fn package(tools: &Tools, worker: Worker) -> Result<()> {
    let stamp = Stamp::at(Path::new("build/.stamps").join(worker.name().replace('/', "-")));
    let made_from = fingerprint(&[worker.wasm(), "package-lock.json".into(), "Cargo.lock".into()])?;
    if stamp.is(&made_from) && worker.folder().join("index.js").is_file() {
        return Ok(());
    }
    stamp.clear()?;
    eprintln!("build: {} (seconds)", worker.folder().display());
    let npm = process::npm_bin()?;
    let mut worker_build = tools.wasm.command(&tools.worker_build.to_string_lossy())?;
    worker_build
        .env("WASM_BINDGEN_BIN", &tools.wasm_bindgen)
        .env("WASM_OPT_BIN", npm.join("wasm-opt"))
        .env("ESBUILD_BIN", npm.join("esbuild"))
        // A request that was cancelled would leave the Rust future dropped halfway.
        .env("RUN_TO_COMPLETION", "1")
        .arg(worker.crate_folder())
        .args(["--release", "--out-dir"])
        .arg(std::path::absolute(worker.folder()).context("can't tell the working directory")?)
        .args(cargo_options(worker));
    process::quiet(&mut worker_build, "the messages above say why; remove build/ and run the command again")?;
    stamp.set(&made_from)
}

/// A built Worker's size.
pub(crate) struct Size {
    worker: Worker,
    bytes: u64,
    gzipped_bytes: u64,
}

impl Size {
    /// Measures what would be uploaded.
    pub(crate) fn of(worker: Worker) -> Result<Self> {
        let mut size = Self { worker, bytes: 0, gzipped_bytes: 0 };
        for name in ["index.js", "index_bg.wasm"] {
            let path = worker.folder().join(name);
            let file = fs::File::open(&path).with_context(|| format!("can't read {}", path.display()))?;
            size.bytes += file.metadata().with_context(|| format!("can't read {}", path.display()))?.len();
            let gzip =
                std::process::Command::new("gzip").arg("-c").stdin(file).stderr(Stdio::inherit()).output();
            let gzip = gzip.context("can't run gzip, which measures the Workers; install it")?;
            size.gzipped_bytes += u64::try_from(gzip.stdout.len()).unwrap_or(u64::MAX);
        }
        Ok(size)
    }

    /// Fails where the Worker is larger than it may be.
    pub(crate) fn check(&self) -> Result<()> {
        if self.worker == Worker::Gateway && self.gzipped_bytes >= GATEWAY_LIMIT_BYTES {
            bail!(
                "the gateway must stay under {} KiB gzipped; see what grew: {self}",
                GATEWAY_LIMIT_BYTES / 1024
            );
        }
        Ok(())
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kib = |bytes: u64| bytes.div_ceil(1024);
        let name = self.worker.folder().display().to_string();
        write!(f, "{name:<24} {:>6} KiB, gzipped {:>5} KiB", kib(self.bytes), kib(self.gzipped_bytes))
    }
}
