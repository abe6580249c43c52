//! The black-box suite: the same programs over HTTP against each host.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::libtest::{Program, Programs, Verdicts};
use super::scratch::Scratch;
use crate::build::Worker;
use crate::stamp::{Stamp, fingerprint, remove_folder};
use crate::state::{self, Administrator};
use crate::{local, workerd};

/// The crate whose test programs are the suite.
pub(super) const PACKAGE: &str = "ledge-tests";

const TEMPLATE: &str = ".ledge/test/template";

/// Runs the suite against the native host.
pub(super) fn on_local(programs: &Programs, full: bool) -> Result<Verdicts> {
    let scratch = Scratch::empty("local")?;
    let (local, administrator) = local::start(&programs.ledge, scratch.folder(), &log("local"))?;
    run(programs, "local", local.url(), &administrator, full)
}

/// Runs the suite against the Workers in workerd.
pub(super) fn on_workerd(programs: &Programs, full: bool) -> Result<Verdicts> {
    let administrator = template(programs)?;
    let scratch = Scratch::copy_of(Path::new(TEMPLATE), "workerd")?;
    let workerd = workerd::start(&workerd::Options {
        state: scratch.folder(),
        port: 0,
        workers: workerd::built(&[Worker::TestGateway, Worker::Functions]),
        log: Some(&log("workerd")),
    })?;
    run(programs, "workerd", workerd.url(), &administrator, full)
}

fn log(host: &str) -> PathBuf {
    PathBuf::from(format!("build/test/{host}.log"))
}

fn run(
    programs: &Programs,
    host: &str,
    url: &str,
    administrator: &Administrator,
    full: bool,
) -> Result<Verdicts> {
    let mut environment = vec![
        ("LEDGE_TEST_HOST", host.to_owned()),
        ("LEDGE_TEST_URL", url.to_owned()),
        ("LEDGE_TEST_TOKEN", administrator.token.clone()),
        ("LEDGE_TEST_SPACE", administrator.space.clone()),
    ];
    if full {
        environment.push(("LEDGE_TEST_FULL", "1".to_owned()));
    }
    let mut verdicts = Verdicts::new();
    for program in programs.tests.iter().filter(|program| program.package == PACKAGE) {
        verdicts.extend(named(program, program.run(&environment)?));
    }
    anyhow::ensure!(
        !verdicts.is_empty(),
        "the crate {PACKAGE} has no tests; what the host said stands in {}",
        log(host).display()
    );
    Ok(verdicts)
}

/// Puts the program's name before its tests' names.
fn named(program: &Program, verdicts: Verdicts) -> Verdicts {
    verdicts.into_iter().map(|(name, verdict)| (format!("{}::{name}", program.target), verdict)).collect()
}

/// Makes a migrated state with an administrator, once; a run copies it, which takes no time.
fn template(programs: &Programs) -> Result<Administrator> {
    let folder = Path::new(TEMPLATE);
    let known = folder.join("administrator.json");
    let mut made_of = state::migrations()?;
    made_of.extend([programs.ledge.clone(), "wrangler.toml".into(), "package-lock.json".into()]);
    let made_from = fingerprint(&made_of)?;
    let stamp = Stamp::at(folder.join("template.stamp"));
    if !stamp.is(&made_from) {
        remove_folder(folder)?;
        state::migrate(folder)?;
        let administrator = state::bootstrap(folder, Command::new(&programs.ledge))?;
        std::fs::write(&known, administrator.to_string())
            .with_context(|| format!("can't write {}", known.display()))?;
        stamp.set(&made_from)?;
    }
    let text = std::fs::read_to_string(&known).with_context(|| format!("can't read {}", known.display()))?;
    Administrator::parse(&text)
}
