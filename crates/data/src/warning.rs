//! What is odd about a set without making it unusable.

/// Something a user should know before trusting a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Warning {
    #[error("class `{class}` has a single example")]
    SingleExample { class: String },
    #[error("every label is `{class}`")]
    OneClass { class: String },
    #[error("class `{class}` has no example")]
    EmptyClass { class: String },
    #[error("{count} rows with a missing value were left out")]
    Dropped { count: usize },
    #[error("missing values stand at the mean of their column ({count} in all)")]
    Filled { count: usize },
    #[error(
        "column `{column}` holds what it did not in the training set, such as `{example}` ({count} in all)"
    )]
    Unseen { column: String, count: usize, example: String },
    #[error("column {number} has no name and was left out")]
    Unnamed { number: usize },
    #[error("column `{column}` counts the rows and was left out")]
    Counts { column: String },
    #[error(
        "column `{column}` rises from row to row; if it numbers the rows, leave it out: `--ignore {column}`"
    )]
    Rises { column: String },
    #[error(
        "column `{column}` tells every label; if it was made from them, leave it out: `--ignore {column}`"
    )]
    Tells { column: String },
    #[error("{count} images could not be read and were left out")]
    Quarantined { count: usize },
    #[error("the images have {sizes} sizes, from {smallest} to {largest}, and were brought to {size}")]
    Resized { sizes: usize, smallest: String, largest: String, size: String },
    #[error("{count} files are not images known here and were passed over, such as `{example}`")]
    PassedOver { count: usize, example: String },
}
