//! The `cleanest` command.

use clap::Parser;
use std::process::ExitCode;

mod board;
mod commands;
mod data_arguments;
mod failure;
mod progress;

/// Learn from data whose labels are partly wrong.
#[derive(Debug, Parser)]
#[command(name = "cleanest", version, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
