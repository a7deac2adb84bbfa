//! The command line, as a user types it.
// Snapshots are written by their tool, with more hashes than needed.
#![allow(clippy::unwrap_used, clippy::needless_raw_string_hashes)]

mod anchors;
mod audit;
mod browser;
mod clothing1m;
mod figures;
mod fit;
mod from_python;
mod get;
mod inspect;
mod methods;
mod noise;
mod other_data;
mod overlap;
mod page;
mod paper;
mod predict;
mod report;
mod resume;
mod small_images;
mod sweep;
mod table;
mod workers;

/// The command that was built with these tests.
pub(crate) fn cleanest() -> snapbox::cmd::Command {
    snapbox::cmd::Command::new(snapbox::cmd::cargo_bin!("cleanest"))
}

/// The same, with these words behind it.
pub(crate) fn typed(words: &str) -> snapbox::cmd::Command {
    cleanest().args(words.split_whitespace())
}
