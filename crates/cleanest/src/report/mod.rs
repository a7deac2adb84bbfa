//! `report.html`: what a run or an audit found, on one page that needs nothing but a browser.
//!
//! The page is made from the run folder alone; the examples are only needed to show them. It loads nothing, everything
//! on it is there without its script, and text from files can do nothing but be read.

pub mod draw;

mod classes;
mod curves;
mod evidence;
mod facts;
mod gallery;
mod made;
mod meaning;
mod noise;
mod page;
mod plot;
mod score;
mod thumbnail;
mod verdict;
mod words;

use crate::Error;
use crate::audit::Suspect;
use crate::run::{RunFolder, names};
use cleanest_data::Dataset;
use facts::Facts;
pub use plot::plot;
use std::path::PathBuf;

/// Writes the page of a run folder, and says where it is.
///
/// `suspects` is the list from its top, `data` the examples the list speaks of, in their order. Without them the page
/// names the examples but does not show them.
pub fn write(run: &RunFolder, suspects: &[Suspect], data: Option<&Dataset>) -> Result<PathBuf, Error> {
    let facts = Facts::read(run, suspects, data)?;
    run.write(names::REPORT, page::page(&facts).as_bytes())?;
    Ok(run.file(names::REPORT))
}
