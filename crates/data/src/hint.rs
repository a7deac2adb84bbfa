//! The cure that follows an error, where one is known.

use crate::Error;
use cleanest_core::npy::Problem;

impl Error {
    /// The cure, where one is known: what a person would try next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let cure = match self {
            Self::Unrecognized { .. } => {
                "give a folder of images, a .csv, .tsv, .jsonl, .parquet, .npy or .npz file, \
                the folder of MNIST or CIFAR, or `digits`"
            }
            Self::NoTestPart { .. } => "name a test set with `--test PATH`, or let a share be split off",
            Self::NoLabel { .. } => "name it with `--label COLUMN`, or give a file with `--labels FILE`",
            Self::Unlabeled { .. } => "give them with `--labels FILE` (.npy, .csv, .txt, .parquet or IDX)",
            Self::Missing { .. } => {
                "`--missing mean` fills it with the mean of its column, `--missing drop` leaves the row out"
            }
            Self::Categories { .. } | Self::ColumnType { .. } | Self::Nested { .. } => {
                "leave the column out with `--ignore COLUMN`"
            }
            Self::Number { .. } => {
                "correct the cell, empty it, or leave the column out with `--ignore COLUMN`"
            }
            Self::UnknownClass { .. } | Self::LabelRange { .. } => {
                "correct the label, or list every class with `--classes`"
            }
            Self::Pixel { .. } => {
                "images are numbers in 0 to 255 or in 0 to 1; reshape features to [examples, features]"
            }
            Self::Npy { problem: Problem::Objects, .. } => {
                "save numbers with `np.save(path, array.astype(np.float32))`, and labels that are texts with `array.astype(str)`"
            }
            Self::Npy { problem: Problem::Element(_), .. } => {
                "save numbers as float32 or int64; texts can be labels, in a file beside the examples"
            }
            Self::Memory { .. } => "ask for smaller images with `--image-size`, or raise `limits.memory`",
            Self::Expands { .. } => "if the file is to be trusted, raise `limits.decompressed`",
            Self::TooManyRows { .. } => "if the file is to be trusted, raise `limits.rows`",
            Self::RowTooLong { .. } => "if the file is to be trusted, raise `limits.row_bytes`",
            Self::Pixels { .. } => "if the image is to be trusted, raise `limits.pixels`",
            Self::Quarantine { .. } => {
                "mend or remove them, or raise `limits.quarantine`; `cleanest inspect` lists them"
            }
            Self::Checksum { .. } => "the mirror holds another file than the published one: nothing was kept",
            Self::Network { .. } => "run the same command again: it goes on where it stopped",
            _ => return None,
        };
        Some(cure.to_owned())
    }
}
