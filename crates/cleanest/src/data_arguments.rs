//! What a user can say about data on the command line, the same for every command that reads some.

use cleanest_data::{ClassOrder, Color, Granularity, Missing, Options};
use std::path::PathBuf;

/// How the data are to be read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArguments {
    /// Column of a table that holds the labels
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// File with the labels: .npy, .csv, .txt, .jsonl, .parquet or IDX
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Names of all classes in their order, where some are absent from the data
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    classes: Option<Vec<String>>,
    /// Columns that are not to be learnt from
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    ignore: Vec<String>,
    /// What becomes of missing values
    #[arg(long, value_enum, default_value = "error")]
    missing: MissingArgument,
    /// Size all images are brought to, such as 64 or 48x64 (height x width)
    #[arg(long, value_parser = image_size, value_name = "SIZE")]
    image_size: Option<[u32; 2]>,
    /// Channels of images
    #[arg(long, value_enum, default_value = "auto")]
    color: ColorArgument,
    /// Take the 20 coarse classes of CIFAR-100, not the 100 fine ones
    #[arg(long)]
    coarse: bool,
    /// Number the classes of CIFAR as the experiments of the paper do
    #[arg(long)]
    paper_class_order: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MissingArgument {
    /// Refuse them, by row and column
    Error,
    /// Leave their rows out
    Drop,
    /// Put them at the mean of their column
    Mean,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ColorArgument {
    /// Gray if every image is
    Auto,
    /// One channel
    Gray,
    /// Three channels
    Rgb,
}

impl From<DataArguments> for Options {
    fn from(arguments: DataArguments) -> Self {
        Self {
            label: arguments.label,
            labels: arguments.labels,
            classes: arguments.classes,
            ignore: arguments.ignore,
            missing: match arguments.missing {
                MissingArgument::Error => Missing::Error,
                MissingArgument::Drop => Missing::Drop,
                MissingArgument::Mean => Missing::Mean,
            },
            image_size: arguments.image_size,
            color: match arguments.color {
                ColorArgument::Auto => Color::Auto,
                ColorArgument::Gray => Color::Gray,
                ColorArgument::Rgb => Color::Rgb,
            },
            granularity: if arguments.coarse { Granularity::Coarse } else { Granularity::Fine },
            class_order: if arguments.paper_class_order { ClassOrder::Paper } else { ClassOrder::Published },
            ..Self::default()
        }
    }
}

/// `64` for a square, `48x64` for height and width.
fn image_size(text: &str) -> Result<[u32; 2], String> {
    let (height, width) = text.split_once('x').unwrap_or((text, text));
    let side = |text: &str| text.trim().parse().ok().filter(|&side: &u32| side > 0);
    match (side(height), side(width)) {
        (Some(height), Some(width)) => Ok([height, width]),
        _ => Err("expected a size such as 64 or 48x64".to_owned()),
    }
}
