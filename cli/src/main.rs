//! The command line: `ledge serve` is the drive on this machine, `ledge bootstrap` prepares one elsewhere.

mod bootstrap;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A drive with no server.
#[derive(Debug, Parser)]
#[command(name = "ledge", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Options),
    Bootstrap(bootstrap::Options),
}

fn main() -> ExitCode {
    let done = match CommandLine::parse().command {
        Command::Serve(options) => serve::run(&options),
        Command::Bootstrap(options) => bootstrap::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ledge: {error:#}");
            ExitCode::FAILURE
        }
    }
}
