//! `cargo xtask test`: unit tests, conformance and the black-box suite, the latter two on every host.

mod blackbox;
mod clients;
mod conformance;
mod crash;
mod libtest;
mod results;
mod schemathesis;
mod scratch;
mod table;

use anyhow::{Context, Result};

use crate::arguments::Arguments;
use crate::build::{self, Worker};
use crate::report::{Report, Tally};
use crate::setup::{self, Clients, Tools};
use libtest::{Program, Programs, Verdicts};
use table::Table;

/// What `cargo xtask test` was asked for.
pub(crate) struct Options {
    full: bool,
    host: Option<String>,
}

impl Options {
    /// Reads the command line.
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self> {
        let full = arguments.flag("--full");
        let host = arguments.value("--host")?;
        arguments.end()?;
        let hosts = HOSTS.map(|(host, ..)| host);
        if let Some(host) = &host {
            anyhow::ensure!(
                hosts.contains(&host.as_str()),
                "there is no host {host:?}, only {}",
                hosts.join(", ")
            );
        }
        Ok(Self { full, host })
    }
}

/// `cargo xtask test`.
pub(crate) fn run(options: Options) -> Result<()> {
    let tools = setup::run()?;
    let mut report = Report::default();
    if let Some(host) = &options.host {
        on_one_host(&mut report, &tools, host, options.full);
        return report.close();
    }
    let table = stages(&mut report, &tools, options.full);
    if options.full {
        results::keep(&report, table.as_ref())?;
    }
    report.close()
}

/// Every stage of the tests; the table of the black-box suite, if it came to that.
pub(crate) fn stages(report: &mut Report, tools: &Tools, full: bool) -> Option<Table> {
    let programs = report.stage("compile the tests", || Ok((Tally::NOTHING, libtest::compile()?)))?;
    report.stage("unit tests, conformance on local", || unit_tests(&programs, full));
    report.stage("conformance on local + S3", || {
        let verdicts = conformance::on_local_s3(&programs)?;
        Ok((libtest::tally(&verdicts), ()))
    });
    report.check("the API against its OpenAPI document", || {
        schemathesis::run(&setup::schemathesis()?, &programs.ledge)
    });
    report.stage("build the Workers for the tests", || {
        build::build(tools, &Worker::TESTED).map(|()| (Tally::NOTHING, ()))
    })?;
    report.stage("conformance on workerd", || {
        let verdicts = conformance::on_workerd()?;
        Ok((libtest::tally(&verdicts), ()))
    });
    prepare_spin(report, tools);
    let mut columns = Vec::new();
    for (host, name, run) in HOSTS {
        let verdicts = report.stage(name, || {
            let verdicts = run(&programs, full)?;
            Ok((libtest::tally(&verdicts), verdicts))
        });
        columns.push((host, verdicts.unwrap_or_default()));
    }
    report.stage("what only S3 shows, on local", || {
        let verdicts = blackbox::what_needs_s3(&programs)?;
        Ok((libtest::tally(&verdicts), ()))
    });
    let clients = report.stage("set up the WebDAV clients", set_up_clients).flatten();
    for ((_, column), (name, run)) in columns.iter_mut().zip(CLIENTS) {
        let Some(clients) = &clients else { continue };
        let verdicts = report.stage(name, || {
            let verdicts = run(&programs, clients, full)?;
            Ok((libtest::tally(&verdicts), verdicts))
        });
        column.extend(verdicts.unwrap_or_default());
    }
    let table = Table::new(columns);
    println!("\n{table}");
    report.check("no secret of S3 in any log", blackbox::secrets_stay_secret);
    report.check("the same tests on every host", || {
        anyhow::ensure!(table.missing() == 0, "a test is missing on a host; the table above shows which");
        Ok(())
    });
    Some(table)
}

/// The black-box suite and the WebDAV clients, on one host only.
fn on_one_host(report: &mut Report, tools: &Tools, host: &str, full: bool) -> Option<()> {
    let programs = report.stage("compile the tests", || Ok((Tally::NOTHING, libtest::compile()?)))?;
    match host {
        "Spin+S3" => prepare_spin(report, tools),
        "workerd" | "workerd+S3" => {
            report.check("build the Workers for the tests", || build::build(tools, &Worker::TESTED))
        }
        _ => {}
    }
    let clients = report.stage("set up the WebDAV clients", set_up_clients).flatten();
    let mut columns = Vec::new();
    for (&(host, name, run), (of_clients, run_clients)) in
        HOSTS.iter().zip(CLIENTS).filter(|((name, ..), _)| *name == host)
    {
        let mut stage = |name, run: &dyn Fn() -> Result<Verdicts>| {
            let run = || run().map(|verdicts| (libtest::tally(&verdicts), verdicts));
            report.stage(name, run).unwrap_or_default()
        };
        let mut verdicts = stage(name, &|| run(&programs, full));
        if let Some(clients) = &clients {
            verdicts.extend(stage(of_clients, &|| run_clients(&programs, clients, full)));
        }
        columns.push((host, verdicts));
    }
    println!("\n{}", Table::new(columns));
    Some(())
}

/// What runs the Spin components, and the components. Where it fails, the stages that need them fail, too.
fn prepare_spin(report: &mut Report, tools: &Tools) {
    report.check("set up the test host for Spin", || setup::spin_host().map(drop));
    report.check("build the Spin components", || build::build_spin(tools.wasm));
}

type OnHost = fn(&Programs, bool) -> Result<Verdicts>;

const HOSTS: [(&str, &str, OnHost); 5] = [
    ("local", "black-box suite on local", blackbox::on_local),
    ("local+S3", "black-box suite on local + S3", blackbox::on_local_s3),
    ("workerd", "black-box suite on workerd", blackbox::on_workerd),
    ("workerd+S3", "black-box suite on workerd + S3", blackbox::on_workerd_s3),
    ("Spin+S3", "black-box suite on Spin + S3", blackbox::on_spin),
];

type ClientsOnHost = fn(&Programs, &Clients, bool) -> Result<Verdicts>;

/// In the order of [`HOSTS`].
const CLIENTS: [(&str, ClientsOnHost); 5] = [
    ("WebDAV clients on local", clients::on_local),
    ("WebDAV clients on local + S3", clients::on_local_s3),
    ("WebDAV clients on workerd", clients::on_workerd),
    ("WebDAV clients on workerd + S3", clients::on_workerd_s3),
    ("WebDAV clients on Spin + S3", clients::on_spin),
];

/// The clients are Debian's. Where they can't be had, their tests are skipped; but not where a change is about to land.
fn set_up_clients() -> Result<(Tally, Option<Clients>)> {
    match setup::clients() {
        Ok(clients) => Ok((Tally::NOTHING, Some(clients))),
        Err(error) if std::env::var_os("CI").is_some() => Err(error),
        Err(error) => {
            eprintln!("the WebDAV clients are skipped: {error:#}");
            Ok((Tally { skipped: 1, ..Tally::NOTHING }, None))
        }
    }
}

/// `cargo xtask clients`: the WebDAV clients against a server that runs already.
pub(crate) fn clients_by_hand(mut arguments: Arguments) -> Result<()> {
    let url =
        arguments.value("--url")?.context("say where WebDAV answers: --url http://127.0.0.1:8787/dav/")?;
    let token = arguments.value("--token")?.context("say how to sign in: --token TOKEN")?;
    arguments.end()?;
    let clients = setup::clients()?;
    let mut report = Report::default();
    let verdicts = report.stage("WebDAV clients", || {
        let verdicts = clients::run(&clients, "by-hand", (&url, &token), false)?;
        Ok((libtest::tally(&verdicts), verdicts))
    });
    println!("\n{}", Table::new(vec![("by hand", verdicts.unwrap_or_default())]));
    report.close()
}

fn unit_tests(programs: &Programs, full: bool) -> Result<(Tally, ())> {
    let mut total = Tally::default();
    let needs_nothing =
        |program: &&Program| program.package != blackbox::PACKAGE && !conformance::needs_store(program);
    for program in programs.tests.iter().filter(needs_nothing) {
        let tally = libtest::tally(&program.run(full, &[])?);
        if tally != Tally::default() {
            eprintln!("{:<40} {tally}", Program::title(program));
        }
        total.add(tally);
    }
    anyhow::ensure!(total.passed + total.failed > 0, "there is no unit test");
    Ok((total, ()))
}
