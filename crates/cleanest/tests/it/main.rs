//! The command line, as a user types it.
#![allow(clippy::unwrap_used, clippy::needless_raw_string_hashes)]

mod methods;
mod noise;

use snapbox::cmd::{Command, cargo_bin};

/// The command with these words.
fn cleanest(words: &str) -> Command {
    Command::new(cargo_bin!("cleanest")).args(words.split_whitespace())
}
