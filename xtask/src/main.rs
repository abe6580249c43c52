//! What the README's commands run: `cargo xtask dev | test | build | ci | setup`.
//!
//! Every command begins with the set-up, which does nothing where nothing is to be done. Paths in this crate are
//! relative to the root of the checkout.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

mod arguments;
mod build;
mod ci;
mod dev;
mod interrupt;
mod local;
mod openapi;
mod process;
mod report;
mod restore;
mod server;
mod setup;
mod spin;
mod stamp;
mod state;
mod store;
mod test;
mod workerd;

use arguments::Arguments;

const USAGE: &str = "\
cargo xtask COMMAND

  setup                     install what the other commands need; they do it themselves
  dev [--port N] [--local]  run Ledge: WebAssembly in workerd, or the native host
  test [--full] [--host NAME]
                            the tests at sizes for everyday work; --full adds the large ones; --host:
                            only the black-box suite and the WebDAV clients on it: local, local+S3, …
  build [WORKER] [--test]   build the Workers into build/, or one of them: gateway, functions;
                            --test: the builds that the tests use, into build/test/
  build --spin              build the Spin components alone, as `spin build` does
  ci                        everything that must hold before a change lands
  openapi                   write gateway/openapi.json anew, from the handlers
  workerd --state DIR --worker CONFIG=BUILD_DIR ... [--port N]
                            run built Workers in workerd, by hand
  restore --data DIR [--backup ID]
                            bring a lost database back, out of a dump in DIR/objects
  restore --d1 --persist-to DIR|--remote --backup ID [--objects FOLDER]
                            the same for D1, which must be empty; docs/BACKUP.md has the steps
  doctor --data DIR [--content]
                            find out whether database and bucket fit together
  clients --url URL --token TOKEN
                            run the WebDAV clients against a server, by hand";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<report::Failed>() => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    enter_checkout()?;
    let mut arguments = Arguments::from_env();
    match arguments.word().as_deref() {
        Some("setup") => {
            arguments.end()?;
            setup::run()?;
            setup::spin_host().map(|_| ())
        }
        Some("dev") => dev::run(dev::Options::parse(arguments)?),
        Some("test") => test::run(test::Options::parse(arguments)?),
        Some("build") => build::run(build::Options::parse(arguments)?),
        Some("ci") => {
            arguments.end()?;
            ci::run()
        }
        Some("clients") => test::clients_by_hand(arguments),
        Some("openapi") => {
            arguments.end()?;
            openapi::run()
        }
        Some("restore") => restore::run(restore::Options::parse(arguments)?),
        Some("doctor") => restore::doctor(arguments),
        Some("workerd") => workerd::run_by_hand(arguments),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("there is no command {other:?}\n\n{USAGE}"),
        None => bail!("name a command\n\n{USAGE}"),
    }
}

/// Makes the root of the checkout the working directory, wherever in it the command was typed.
fn enter_checkout() -> Result<()> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").context("start me as `cargo xtask`")?;
    let root = std::path::Path::new(&here).parent().context("xtask must lie in the checkout")?;
    std::env::set_current_dir(root).with_context(|| format!("can't enter {}", root.display()))
}
