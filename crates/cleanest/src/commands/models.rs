//! `cleanest models`: what can be trained.

use cleanest_engine::Model;
use std::io::Write as _;

/// List the models, one line each.
#[derive(Debug, clap::Args)]
pub(crate) struct Models {}

impl Models {
    /// Prints a line for each model of the list.
    #[allow(clippy::unused_self)]
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        for model in Model::ALL {
            writeln!(out, "{:<13} {}", model.name(), model.about())?;
        }
        Ok(())
    }
}
