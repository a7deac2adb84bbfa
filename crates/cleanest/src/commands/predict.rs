//! `cleanest predict`: what a trained network says of new examples.

use cleanest::run::{Predictions, RunFolder};
use cleanest::train::{Architect, predict};
use cleanest_data::{Dataset, Labeling, Options, Part, Shape, formats};
use std::io::Write;
use std::path::PathBuf;

/// Classify examples with the network of a finished run.
#[derive(Debug, clap::Args)]
pub(crate) struct Predict {
    /// The run folder
    run: PathBuf,
    /// A file or a folder of examples, or one image, like those the run was trained on
    input: PathBuf,
    /// Where the predictions go: .npy (probabilities), .csv or .parquet; without it, they are printed as CSV
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Where to compute: auto, cpu or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
}

impl Predict {
    /// Reads the examples as the training set was read, and writes the probabilities of their classes.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let run = RunFolder::open(&self.run)?;
        let (mut config, input, model) = (run.config()?, run.input()?, run.model()?);
        config.device.clone_from(&self.device);
        let set = open(&self.input, &input.read)?;
        set.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
        let expected = match input.shape[..] {
            [height, width, channels] => Shape::Image { height, width, channels },
            _ => Shape::Row(input.shape.iter().product()),
        };
        if set.shape() != expected {
            let (expected, found) = (expected.to_string(), set.shape().to_string());
            return Err(cleanest_data::Error::Unlike { path: self.input, expected, found }.into());
        }
        let mut network = Architect::new(&config, expected, input.classes.len())?.network(config.seed)?;
        network.load(&model)?;
        let probabilities = predict(network.as_mut(), &set, &input.standardization)?;
        let predictions = Predictions { set: &set, classes: &input.classes, probabilities: &probabilities };
        let Some(out) = self.out else { return Ok(std::io::stdout().lock().write_all(&predictions.csv())?) };
        predictions.write(&out)?;
        eprintln!("{} predictions in {}", set.len(), out.display());
        Ok(())
    }
}

/// The examples, without labels: they are not asked for. A set published in two parts gives its test part.
fn open(path: &std::path::Path, read: &Options) -> anyhow::Result<Dataset> {
    let options = Options { labeling: Labeling::Absent, labels: None, ..read.clone() };
    let format = formats::of(path)?;
    let part = if format.has_test(path) { Part::Test } else { Part::Train };
    Ok(format.read(path, part, &options)?)
}
