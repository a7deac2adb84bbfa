//! Every mistake a user of this crate can make, each with a sentence of its own.

use std::path::{Path, PathBuf};

/// A mistake in what was asked, said so that it can be mended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Error {
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },

    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },

    #[error("`{}`: {problem}", path.display())]
    InFile { path: PathBuf, problem: Box<Error> },

    #[error("`{}` is not a file of a transition matrix: its name ends in none of .json, .csv, .npy", .0.display())]
    Extension(PathBuf),

    #[error("not JSON of a transition matrix: {0}")]
    Json(serde_json::Error),

    #[error("not CSV: {0}")]
    Csv(csv::Error),

    #[error("line {line}, column {column} is not a number: `{found}`")]
    NotANumber { line: u64, column: usize, found: String },

    #[error(transparent)]
    Npy(#[from] crate::npy::Problem),

    #[error("a transition matrix holds f4 or f8, this file {0}")]
    NotFloats(&'static str),

    #[error("a transition matrix has as many rows as columns, this one has shape {0:?}")]
    NotSquare(Vec<usize>),

    #[error("row {row} (from 0) has {found} entries where the matrix has {expected} rows")]
    RowLength { row: usize, expected: usize, found: usize },

    #[error("there must be at least two classes: {0}")]
    TooFewClasses(usize),

    #[error("entry ({row}, {column}) (from 0) of the transition matrix is not a probability: {value}")]
    NotAProbability { row: usize, column: usize, value: f64 },

    #[error("row {row} (from 0) of the transition matrix must sum to 1: {sum}")]
    RowSum { row: usize, sum: f64 },

    #[error("{expected} classes were expected, {found} were found in {what}")]
    Classes { what: &'static str, expected: usize, found: usize },

    #[error("label {label} in row {row} (from 0) is not a class: there are {classes}, from 0")]
    Label { row: usize, label: u32, classes: usize },

    #[error("row {}, class {column} (from 0): not a probability: {}", row + 1, short(*value))]
    Probability { row: usize, column: usize, value: f64 },

    #[error("row {}: the probabilities sum to {}, not to 1", row + 1, short(*sum))]
    ProbabilitySum { row: usize, sum: f64 },

    #[error("there are {labels} labels for {examples} examples")]
    Length { labels: usize, examples: usize },

    #[error("no {kind} is called `{name}`")]
    Unknown { kind: &'static str, name: String, nearest: Option<String>, known: String },

    #[error("`{text}` is not of the form `{form}`")]
    NoiseForm { text: String, form: &'static str },

    #[error("`{key}` must be {expected}: {found}")]
    Setting { key: String, expected: &'static str, found: String },

    #[error("random noise of rate {rate} cannot be had with {classes} classes")]
    RandomRate { rate: f64, classes: usize },

    #[error("method `{method}`: {problem}")]
    InMethod { method: &'static str, problem: Box<Error> },

    #[error("stage {0} needs the posteriors that the stage before it found, and got none")]
    NoPosteriors(usize),

    #[error("the transition matrix that corrects the loss is not given")]
    NoTransition,

    #[error("the saved state has no `{0}`")]
    StateMissing(&'static str),

    #[error("`{key}` of the saved state has {found} values where {expected} belong")]
    StateLength { key: &'static str, expected: usize, found: usize },

    #[error("the settings of `{method}` are not right: {problem}")]
    Settings { method: String, problem: String },

    #[error("a t-test needs at least two values on each side: {0}")]
    TooFewTrials(usize),

    #[error("a paired t-test needs as many values on both sides: {0} and {1}")]
    Unpaired(usize, usize),
}

/// A number without the digits that a narrow float made up.
fn short(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

impl Error {
    /// The cure, where one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::InFile { problem, .. } | Self::InMethod { problem, .. } => problem.hint(),
            Self::Unknown { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::Unknown { known, .. } => Some(format!("there are: {known}")),
            Self::RowSum { .. } => {
                Some("each row is the distribution of the labels one true class is given".into())
            }
            Self::Npy(crate::npy::Problem::Objects) => {
                Some("save it with `numpy.save(path, array, allow_pickle=False)`".into())
            }
            Self::RandomRate { .. } => Some("a rate up to 0.5 always can".into()),
            Self::ProbabilitySum { .. } => {
                Some("scores that are not probabilities yet are made so by `--renormalize`".into())
            }
            Self::NoTransition => Some("set `known_t.noise`, for example to `file:transition.json`".into()),
            _ => None,
        }
    }

    /// Whether what was asked has to be mended, rather than the machine it was asked of.
    #[must_use]
    pub fn is_wrong_use(&self) -> bool {
        !matches!(self, Self::Write { .. })
    }

    /// The same mistake, with the file in which it was made.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        Self::InFile { path: path.to_owned(), problem: Box::new(self) }
    }

    /// The same mistake, with the method whose settings or input it is in.
    #[must_use]
    pub fn in_method(self, method: &'static str) -> Self {
        Self::InMethod { method, problem: Box::new(self) }
    }

    /// A name that is not on a list, with the nearest one that is.
    #[must_use]
    pub fn unknown<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        let nearest = nearest(name, known.clone()).map(str::to_owned);
        Self::Unknown { kind, name: name.to_owned(), nearest, known: known.collect::<Vec<_>>().join(", ") }
    }
}

/// The known name that the fewest slips of the finger turn into `name`, if they are few.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = |candidate: &str| strsim::damerau_levenshtein(&name.to_lowercase(), candidate);
    let few = (name.chars().count() / 2).max(1);
    known
        .map(|candidate| (slips(candidate), candidate))
        .filter(|(slips, _)| *slips <= few)
        .min()
        .map(|best| best.1)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_finds_its_word_and_another_word_finds_none() {
        let known = ["mae", "tvd", "tvg", "forward", "dual-t"];
        let found = |name| nearest(name, known.iter().copied());
        assert_eq!(found("tdv"), Some("tvd"));
        assert_eq!(found("TVD"), Some("tvd"));
        assert_eq!(found("foward"), Some("forward"));
        assert_eq!(found("dual_t"), Some("dual-t"));
        assert_eq!(found("coteaching"), None);
        assert_eq!(found(""), None);
    }
}
