//! The command line: `ledge serve` is the drive on this machine, `ledge bootstrap` prepares one elsewhere, `ledge restore`
//! brings a lost database back, and `ledge doctor` examines a drive.

mod bootstrap;
mod doctor;
mod literal;
mod restore;
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
    Restore(restore::Options),
    Doctor(doctor::Options),
}

fn main() -> ExitCode {
    let done = match CommandLine::parse().command {
        Command::Serve(options) => serve::run(&options),
        Command::Bootstrap(options) => bootstrap::run(&options),
        Command::Restore(options) => restore::run(&options),
        Command::Doctor(options) => doctor::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ledge: {error:#}");
            ExitCode::FAILURE
        }
    }
}
