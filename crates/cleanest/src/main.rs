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
    let arguments = Arguments::try_parse().unwrap_or_else(|wrong| {
        // Of several workers that were asked wrongly, one says so.
        let other =
            cleanest::peers::Launch::found().is_ok_and(|launch| launch.is_some_and(|launch| launch.rank > 0));
        if other { std::process::exit(wrong.exit_code()) } else { wrong.exit() }
    });
    match arguments.command.run() {
        Ok(()) => {
            cleanest::peers::leave();
            ExitCode::SUCCESS
        }
        Err(error) => failure::report(&error),
    }
}
