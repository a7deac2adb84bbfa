//! `report.html`: what a run or an audit found, on one page that needs nothing but a browser.
//!
//! The page is made from the run folder alone; the examples are only needed to show them. It loads nothing, everything
//! on it is there without its script, and text from files can do nothing but be read.

pub mod draw;
pub mod table;

mod classes;
mod curves;
mod evidence;
mod facts;
pub mod figures;
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
use crate::audit::{Suspect, read_suspects};
use crate::run::{About, RunFolder, names};
use cleanest_data::Dataset;
use facts::Facts;
pub use plot::plot;
use std::path::PathBuf;

/// Suspects that are considered for the page; the list may be as long as the data.
const CONSIDERED: usize = 20_000;

/// Writes the page of a run folder that was audited, and says where it is.
///
/// `data` are the examples the audit speaks of, in their order. Without them the page names the examples but does not
/// show them.
pub fn write(run: &RunFolder, data: Option<&Dataset>) -> Result<PathBuf, Error> {
    run.write(names::REPORT, page(run, &suspects(run)?, data)?.as_bytes())?;
    Ok(run.file(names::REPORT))
}

/// The same for a run whose record is not written yet: it is the last file, and nothing comes after it.
pub(crate) fn write_before(run: &RunFolder, about: &About, data: &Dataset) -> Result<(), Error> {
    let suspects = suspects(run)?;
    let facts = Facts::read(run, gallery::chosen(&suspects), Some(data))?;
    let facts = Facts { about: Some(about.clone()), ..facts };
    run.write(names::REPORT, page::page(&facts).as_bytes())
}

fn suspects(run: &RunFolder) -> Result<Vec<Suspect>, Error> {
    let list = run.file(names::SUSPECTS_PARQUET);
    if list.is_file() { read_suspects(&list, CONSIDERED) } else { Ok(Vec::new()) }
}

/// The text of the page, with these suspects, most suspicious first.
pub fn page(run: &RunFolder, suspects: &[Suspect], data: Option<&Dataset>) -> Result<String, Error> {
    Facts::read(run, gallery::chosen(suspects), data).map(|facts| page::page(&facts))
}
