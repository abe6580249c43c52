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
use libtest::{Program, Programs};
use table::Table;

/// What `cargo xtask test` was asked for.
pub(crate) struct Options {
    full: bool,
}

impl Options {
    /// Reads the command line.
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self> {
        let full = arguments.flag("--full");
        arguments.end()?;
        Ok(Self { full })
    }
}

/// `cargo xtask test`.
pub(crate) fn run(options: Options) -> Result<()> {
    let tools = setup::run()?;
    let mut report = Report::default();
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
    let mut columns = Vec::new();
    for (host, name, run) in HOSTS {
        let verdicts = report.stage(name, || {
            let verdicts = run(&programs, full)?;
            Ok((libtest::tally(&verdicts), verdicts))
        });
        columns.push((host, verdicts.unwrap_or_default()));
    }
    report.stage("REST and WebDAV on workerd + S3", || {
        let verdicts = blackbox::on_workerd_s3(&programs)?;
        Ok((libtest::tally(&verdicts), ()))
    });
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

type OnHost = fn(&Programs, bool) -> Result<libtest::Verdicts>;

const HOSTS: [(&str, &str, OnHost); 3] = [
    ("local", "black-box suite on local", blackbox::on_local),
    ("local+S3", "black-box suite on local + S3", blackbox::on_local_s3),
    ("workerd", "black-box suite on workerd", blackbox::on_workerd),
];

type ClientsOnHost = fn(&Programs, &Clients, bool) -> Result<libtest::Verdicts>;

/// In the order of [`HOSTS`].
const CLIENTS: [(&str, ClientsOnHost); 3] = [
    ("WebDAV clients on local", clients::on_local),
    ("WebDAV clients on local + S3", clients::on_local_s3),
    ("WebDAV clients on workerd", clients::on_workerd),
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
