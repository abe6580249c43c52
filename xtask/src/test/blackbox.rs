//! The black-box suite: the same programs over HTTP against each host.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use super::crash;
use super::libtest::{Program, Programs, Verdicts, tally};
use super::scratch::Scratch;
use crate::build::Worker;
use crate::server::Server;
use crate::setup::SpinHost;
use crate::spin::{self, Instances};
use crate::stamp::{Stamp, fingerprint, make_folder, remove_folder};
use crate::state::{self, Administrator};
use crate::store::{self, Store};
use crate::{local, process, setup, workerd};

/// The crate whose test programs are the suite.
pub(super) const PACKAGE: &str = "ledge-tests";

/// The one of them that needs an S3 bucket.
const S3: &str = "s3";

/// What the suite's servers are set to: tests/rest/cors.rs knows the origins.
const VARIABLES: &[(&str, &str)] = &[("LEDGE_CORS_ORIGINS", "https://app.example app://notes.example")];

const TEMPLATE: &str = ".ledge/test/template";
const SPIN_TEMPLATE: &str = ".ledge/test/spin-template";

/// Runs the suite against the native host.
pub(super) fn on_local(programs: &Programs, full: bool) -> Result<Verdicts> {
    run(programs, full, |program| start_local(programs, &program.target), || crash::local(programs))
}

/// Starts the native host over an empty drive, for a program or a stage of this name.
pub(super) fn start_local(programs: &Programs, name: &str) -> Result<Running> {
    let scratch = Scratch::empty(&format!("local-{name}"))?;
    let second = std::path::absolute(scratch.folder().join("second")).context("can't tell a path")?;
    // The mark of files that are objects: hosts/src/local/bucket/paths.rs.
    store::store_foreign(&second.join("objects"), "%o")?;
    let named = json!({ store::SECOND: { "folder": second } }).to_string();
    let variables = [VARIABLES, &[("LEDGE_BUCKETS", named.as_str())]].concat();
    let (local, administrator) =
        local::start(&programs.ledge, scratch.folder(), &variables, &log("local", name))?;
    Ok(Running { host: "local", server: local, administrator, _store: None, _scratch: scratch })
}

/// Runs the suite against the native host over an S3 bucket.
pub(super) fn on_local_s3(programs: &Programs, full: bool) -> Result<Verdicts> {
    let store = setup::s3s_fs()?;
    let scratch = Scratch::empty("s3-crash")?;
    let store = Store::start(&store, scratch.folder(), &log("s3", "crash"))?;
    let start = |program: &Program| start_local_s3(programs, &program.target);
    run(programs, full, start, || crash::local_s3(programs, &store))
}

/// Starts the native host over an empty drive and an empty bucket, for a program or a stage of this name.
pub(super) fn start_local_s3(programs: &Programs, name: &str) -> Result<Running> {
    let scratch = Scratch::empty(&format!("local-s3-{name}"))?;
    let store = Store::start(&setup::s3s_fs()?, &scratch.folder().join("store"), &log("s3", name))?;
    let variables = [VARIABLES, &store.variables()].concat();
    let (local, administrator) =
        local::start(&programs.ledge, &scratch.folder().join("data"), &variables, &log("local-s3", name))?;
    Ok(Running { host: "local-s3", server: local, administrator, _store: Some(store), _scratch: scratch })
}

/// Runs the tests that need an S3 bucket.
pub(super) fn what_needs_s3(programs: &Programs) -> Result<Verdicts> {
    let is_it = |program: &&Program| program.package == PACKAGE && program.target == S3;
    let program = programs.tests.iter().find(is_it).context("the suite has no test s3")?;
    let scratch = Scratch::empty("s3-alone")?;
    let store = Store::start(&setup::s3s_fs()?, scratch.folder(), &log("s3", S3))?;
    program.run(false, &crash::local_s3(programs, &store)?)
}

/// Whether what a host said while it used an S3 bucket shows a secret.
pub(super) fn secrets_stay_secret() -> Result<()> {
    let mut looked_at = 0;
    for entry in std::fs::read_dir("build/test").context("can't read build/test")? {
        let path = entry.context("can't read build/test")?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !["local-s3-", "workerd-s3-", "spin-"].iter().any(|host| name.starts_with(host)) || path.is_dir() {
            continue;
        }
        let text = std::fs::read(&path).with_context(|| format!("can't read {}", path.display()))?;
        let leak = store::leaks(&String::from_utf8_lossy(&text));
        anyhow::ensure!(leak.is_none(), "{} shows {}", path.display(), leak.unwrap_or_default());
        looked_at += 1;
    }
    anyhow::ensure!(looked_at > 0, "there is no log of a host over S3");
    Ok(())
}

/// Runs the suite against the Workers in workerd.
pub(super) fn on_workerd(programs: &Programs, full: bool) -> Result<Verdicts> {
    let administrator = template(programs)?;
    let crashing = || crash::on_workerd(programs, Path::new(TEMPLATE), &administrator, None);
    run(programs, full, |program| start_workerd(&program.target, &administrator, false), crashing)
}

/// Runs the suite against the Workers in workerd over an S3 bucket.
pub(super) fn on_workerd_s3(programs: &Programs, full: bool) -> Result<Verdicts> {
    let administrator = template(programs)?;
    let scratch = Scratch::empty("s3-workerd-crash")?;
    let store = Store::start(&setup::s3s_fs()?, scratch.folder(), &log("s3-workerd", "crash"))?;
    let crashing = || crash::on_workerd(programs, Path::new(TEMPLATE), &administrator, Some(&store));
    run(programs, full, |program| start_workerd(&program.target, &administrator, true), crashing)
}

/// Starts the Workers over a copy of the template, for a program or a stage of this name; over an empty S3 bucket, or R2.
pub(super) fn start_workerd(name: &str, administrator: &Administrator, over_s3: bool) -> Result<Running> {
    let log_of = if over_s3 { "workerd-s3" } else { "workerd" };
    let scratch = Scratch::copy_of(Path::new(TEMPLATE), &format!("{log_of}-{name}"))?;
    let store = match over_s3 {
        true => {
            Some(Store::start(&setup::s3s_fs()?, &scratch.folder().join("store"), &log("s3-workerd", name))?)
        }
        false => None,
    };
    let named = json!({ store::SECOND: { "binding": "SECOND" } }).to_string();
    // The store has them from its start.
    let foreign = store::FOREIGN.map(|(key, content)| ("SECOND", key, content));
    let of_store = store.as_ref().map_or_else(|| vec![("LEDGE_BUCKETS", named.as_str())], Store::variables);
    let server = workerd::start(&workerd::Options {
        state: scratch.folder(),
        port: 0,
        workers: workerd::built(&[Worker::TestGateway, Worker::Functions]),
        variables: &[VARIABLES, &of_store].concat(),
        tick_secs: 2,
        objects: if over_s3 { &[] } else { &foreign },
        log: Some(&log(log_of, name)),
    })?;
    let administrator = administrator.clone();
    Ok(Running { host: "workerd", server, administrator, _store: store, _scratch: scratch })
}

/// Runs the suite against the Spin components over an S3 bucket.
pub(super) fn on_spin(programs: &Programs, full: bool) -> Result<Verdicts> {
    let host = setup::spin_host()?;
    let administrator = spin_template(programs, &host)?;
    let scratch = Scratch::empty("s3-spin-crash")?;
    let store = Store::start(&setup::s3s_fs()?, scratch.folder(), &log("s3-spin", "crash"))?;
    let start = |program: &Program| start_spin(&program.target, &host, &administrator);
    run(programs, full, start, || {
        crash::on_spin(programs, &host, Path::new(SPIN_TEMPLATE), &store, &administrator)
    })
}

/// Starts the Spin components over an empty drive and an empty bucket, for a program or a stage of this name.
pub(super) fn start_spin(name: &str, host: &SpinHost, administrator: &Administrator) -> Result<Running> {
    let scratch = Scratch::copy_of(Path::new(SPIN_TEMPLATE), &format!("spin-{name}"))?;
    let store = Store::start(&setup::s3s_fs()?, &scratch.folder().join("store"), &log("s3-spin", name))?;
    let variables = [VARIABLES, &store.variables()].concat();
    let instances = if ["rest", "dav", "docs"].contains(&name) { Instances::Large } else { Instances::Small };
    let command = spin::command(host, scratch.folder(), None, &variables, instances)?;
    let server = Server::start(command, Some(&log("spin", name)))?;
    let administrator = administrator.clone();
    Ok(Running { host: "spin", server, administrator, _store: Some(store), _scratch: scratch })
}

/// A host with an empty drive. In this order: the server is stopped before its data goes.
pub(super) struct Running {
    pub(super) host: &'static str,
    pub(super) server: Server,
    pub(super) administrator: Administrator,
    _store: Option<Store>,
    _scratch: Scratch,
}

impl Running {
    fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("LEDGE_TEST_HOST", self.host.to_owned()),
            ("LEDGE_TEST_PID", self.server.pid().to_string()),
            ("LEDGE_TEST_URL", self.server.url().to_owned()),
            ("LEDGE_TEST_TOKEN", self.administrator.token.clone()),
            ("LEDGE_TEST_SPACE", self.administrator.space.clone()),
        ]
    }
}

/// Where a host's own words go.
pub(super) fn log(host: &str, name: &str) -> PathBuf {
    PathBuf::from(format!("build/test/{host}-{name}.log"))
}

/// Runs each program against a host of its own: memory that one has made grow would spoil another's measurements.
fn run(
    programs: &Programs,
    full: bool,
    start: impl Fn(&Program) -> Result<Running>,
    crashing: impl Fn() -> Result<Vec<(&'static str, String)>>,
) -> Result<Verdicts> {
    let mut verdicts = Verdicts::new();
    let of_any_host = |program: &&Program| program.package == PACKAGE && program.target != S3;
    for program in programs.tests.iter().filter(of_any_host) {
        if crash::is(program) {
            verdicts.extend(named(program, program.run(full, &crashing()?)?));
            continue;
        }
        let running = start(program)?;
        let of_program = program.run(full, &running.environment())?;
        if tally(&of_program).failed > 0 {
            eprintln!("what the host said stands in {}", log(running.host, &program.target).display());
        }
        verdicts.extend(named(program, of_program));
    }
    anyhow::ensure!(!verdicts.is_empty(), "the crate {PACKAGE} has no tests");
    Ok(verdicts)
}

/// Puts the program's name before its tests' names.
fn named(program: &Program, verdicts: Verdicts) -> Verdicts {
    verdicts.into_iter().map(|(name, verdict)| (format!("{}::{name}", program.target), verdict)).collect()
}

/// Makes a migrated state with an administrator, once; a run copies it, which takes no time.
pub(super) fn template(programs: &Programs) -> Result<Administrator> {
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
    known_administrator(&known)
}

/// The same for Spin: the components make the tables themselves, as soon as they are asked for anything.
pub(super) fn spin_template(programs: &Programs, host: &SpinHost) -> Result<Administrator> {
    let folder = Path::new(SPIN_TEMPLATE);
    let known = folder.join("administrator.json");
    let mut made_of = state::migrations()?;
    made_of.push(programs.ledge.clone());
    let made_from = fingerprint(&made_of)?;
    let stamp = Stamp::at(folder.join("template.stamp"));
    if !stamp.is(&made_from) {
        remove_folder(folder)?;
        make_folder(folder)?;
        // Nothing needs the bucket here.
        let variables = [
            ("LEDGE_S3_ENDPOINT", "http://127.0.0.1:9"),
            ("LEDGE_S3_BUCKET", "none"),
            ("LEDGE_S3_ACCESS_KEY_ID", "none"),
            ("LEDGE_S3_SECRET_ACCESS_KEY", "none"),
        ];
        let started = |sql: Option<&Path>| {
            Server::start(
                spin::command(host, folder, sql, &variables, Instances::Small)?,
                Some(&log("spin", "template")),
            )
        };
        let server = started(None)?;
        let mut get = process::npm_program("node")?;
        get.arg("xtask/js/get.mjs").arg(format!("{}/api/v1/openapi.json", server.url()));
        process::quiet(
            &mut get,
            &format!("what the host said stands in {}", log("spin", "template").display()),
        )?;
        drop(server);
        let sql = folder.join("first.sql");
        let mut ledge = Command::new(&programs.ledge);
        let said =
            process::quiet(ledge.args(["bootstrap", "--sql"]).arg(&sql), "the messages above say why")?;
        drop(started(Some(&sql))?);
        let administrator = Administrator::parse(&said)?;
        std::fs::write(&known, administrator.to_string())
            .with_context(|| format!("can't write {}", known.display()))?;
        stamp.set(&made_from)?;
    }
    known_administrator(&known)
}

fn known_administrator(known: &Path) -> Result<Administrator> {
    let text = std::fs::read_to_string(known).with_context(|| format!("can't read {}", known.display()))?;
    Administrator::parse(&text)
}
