//! The noise types of the paper, and a few others people meet, each from a short text.

use super::{Dirichlet, Transition};
use crate::random::Stream;
use crate::{Error, Matrix};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A kind of label noise, as the command line and the settings file name it: `pair:0.4`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Noise {
    /// Every label is right.
    Clean,
    /// A wrong label is any of the other classes, each equally likely.
    Symmetric {
        /// The share of wrong labels.
        rate: f64,
    },
    /// A label is redrawn among all classes, the true one included: fewer wrong labels than redrawn ones.
    SymmetricInclusive {
        /// The share of redrawn labels.
        rate: f64,
    },
    /// A wrong label is always the next class.
    Pair {
        /// The share of wrong labels.
        rate: f64,
    },
    /// Pair noise, and pair noise again on its result.
    Pair2 {
        /// Rate of the first.
        first: f64,
        /// Rate of the second.
        second: f64,
    },
    /// Pair noise, and then pair noise in the other direction: wrong labels are neighbors.
    Tridiagonal {
        /// Rate of each.
        rate: f64,
    },
    /// Rows drawn from a Dirichlet distribution, mixed with the identity to the asked rate.
    Random {
        /// The share of wrong labels.
        rate: f64,
        /// Concentration of the Dirichlet distribution; the paper's is 0.5.
        concentration: f64,
    },
    /// A matrix from a file.
    File {
        /// A `.json`, `.csv` or `.npy` file.
        path: PathBuf,
    },
}

/// A line of the list of noise types.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word before the colon.
    pub name: &'static str,
    /// The whole text, as it is to be written.
    pub form: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// Reads the numbers behind the colon.
    parse: fn(&[f64]) -> Option<Noise>,
}

/// The concentration of the paper's random noise.
const CONCENTRATION: f64 = 0.5;
/// How often random noise is drawn before its rate is called impossible.
const TRIES: u32 = 1000;

impl Noise {
    /// The one list of noise types; `file:PATH` is read apart, for a path is not a list of numbers.
    pub const KINDS: [Kind; 7] = [
        Kind {
            name: "clean",
            form: "clean",
            about: "every label is right",
            parse: |numbers| numbers.is_empty().then_some(Self::Clean),
        },
        Kind {
            name: "symmetric",
            form: "symmetric:RATE",
            about: "a wrong label is any other class, each equally likely",
            parse: |numbers| one(numbers).map(|rate| Self::Symmetric { rate }),
        },
        Kind {
            name: "symmetric-inclusive",
            form: "symmetric-inclusive:RATE",
            about: "a share of the labels is redrawn among all classes, the true one included",
            parse: |numbers| one(numbers).map(|rate| Self::SymmetricInclusive { rate }),
        },
        Kind {
            name: "pair",
            form: "pair:RATE",
            about: "a wrong label is the next class",
            parse: |numbers| one(numbers).map(|rate| Self::Pair { rate }),
        },
        Kind {
            name: "pair2",
            form: "pair2:FIRST,SECOND",
            about: "pair noise applied twice",
            parse: |numbers| match *numbers {
                [first, second] => Some(Self::Pair2 { first, second }),
                _ => None,
            },
        },
        Kind {
            name: "tridiagonal",
            form: "tridiagonal:RATE",
            about: "pair noise forth and then back: a wrong label is a neighbor",
            parse: |numbers| one(numbers).map(|rate| Self::Tridiagonal { rate }),
        },
        Kind {
            name: "random",
            form: "random:RATE[,CONCENTRATION]",
            about: "rows drawn at random, mixed with the identity to the rate",
            parse: |numbers| match *numbers {
                [rate] => Some(Self::Random { rate, concentration: CONCENTRATION }),
                [rate, concentration] => Some(Self::Random { rate, concentration }),
                _ => None,
            },
        },
    ];

    /// The transition matrix of this noise for so many classes; the seed matters for random noise only.
    pub fn transition(&self, classes: usize, seed: u64) -> Result<Transition, Error> {
        if classes < 2 {
            return Err(Error::TooFewClasses(classes));
        }
        match *self {
            Self::Clean => Ok(Transition::identity(classes)),
            Self::Symmetric { rate } => Ok(symmetric(classes, rate)),
            Self::SymmetricInclusive { rate } => {
                Ok(symmetric(classes, rate * (classes - 1) as f64 / classes as f64))
            }
            Self::Pair { rate } => Ok(pair(classes, rate)),
            Self::Pair2 { first, second } => pair(classes, first).then(&pair(classes, second)),
            Self::Tridiagonal { rate } => {
                let forth = pair(classes, rate);
                let back = Transition::trusted(forth.matrix().transposed());
                forth.then(&back)
            }
            Self::Random { rate, concentration } => {
                random(classes, rate, concentration, &mut Stream::new(seed, "random noise", 0))
            }
            Self::File { ref path } => {
                let given = Transition::read(path)?;
                if given.classes() == classes {
                    return Ok(given);
                }
                let what = "the matrix";
                Err(Error::Classes { what, expected: classes, found: given.classes() }.in_file(path))
            }
        }
    }

    /// The share of wrong labels this noise is asked for, if all classes are equally frequent; a file says it itself.
    #[must_use]
    pub fn rate(&self, classes: usize) -> Option<f64> {
        let two = |first: f64, second: f64| {
            // With two classes, going twice to the next one leads back.
            let back = if classes == 2 { first * second } else { 0.0 };
            1.0 - (1.0 - first) * (1.0 - second) - back
        };
        match *self {
            Self::Clean => Some(0.0),
            Self::Symmetric { rate } | Self::Pair { rate } | Self::Random { rate, .. } => Some(rate),
            Self::SymmetricInclusive { rate } => Some(rate * (1.0 - 1.0 / classes as f64)),
            Self::Pair2 { first, second } => Some(two(first, second)),
            Self::Tridiagonal { rate } => Some(1.0 - (1.0 - rate).powi(2) - rate * rate),
            Self::File { .. } => None,
        }
    }

    fn checked(self) -> Result<Self, Error> {
        let rate = |value: f64| {
            let inside = (0.0..=1.0).contains(&value);
            let wrong = || Error::Setting {
                key: "noise".into(),
                expected: "a rate in [0, 1]",
                found: self.to_string(),
            };
            if inside { Ok(()) } else { Err(wrong()) }
        };
        match self {
            Self::Clean | Self::File { .. } => {}
            Self::Symmetric { rate: r }
            | Self::SymmetricInclusive { rate: r }
            | Self::Pair { rate: r }
            | Self::Tridiagonal { rate: r } => rate(r)?,
            Self::Pair2 { first, second } => rate(first).and(rate(second))?,
            Self::Random { rate: r, concentration } => {
                rate(r)?;
                if !(concentration.is_finite() && concentration > 0.0) {
                    let (key, expected) = ("concentration".into(), "above 0");
                    return Err(Error::Setting { key, expected, found: concentration.to_string() });
                }
            }
        }
        Ok(self)
    }
}

impl FromStr for Noise {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        if name == "file" {
            let form = Error::NoiseForm { text: text.to_owned(), form: "file:PATH" };
            return if rest.is_empty() { Err(form) } else { Ok(Self::File { path: rest.into() }) };
        }
        let names = Self::KINDS.iter().map(|kind| kind.name).chain(["file"]);
        let kind = Self::KINDS.iter().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| Error::unknown("noise", name, names))?;
        let numbers =
            rest.split(',').filter(|number| !number.is_empty()).map(|number| number.trim().parse().ok());
        let noise = numbers.collect::<Option<Vec<f64>>>().and_then(|numbers| (kind.parse)(&numbers));
        noise.ok_or_else(|| Error::NoiseForm { text: text.to_owned(), form: kind.form })?.checked()
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => write!(f, "clean"),
            Self::Symmetric { rate } => write!(f, "symmetric:{rate}"),
            Self::SymmetricInclusive { rate } => write!(f, "symmetric-inclusive:{rate}"),
            Self::Pair { rate } => write!(f, "pair:{rate}"),
            Self::Pair2 { first, second } => write!(f, "pair2:{first},{second}"),
            Self::Tridiagonal { rate } => write!(f, "tridiagonal:{rate}"),
            Self::Random { rate, concentration } if *concentration == CONCENTRATION => {
                write!(f, "random:{rate}")
            }
            Self::Random { rate, concentration } => write!(f, "random:{rate},{concentration}"),
            Self::File { path } => write!(f, "file:{}", path.display()),
        }
    }
}

impl TryFrom<String> for Noise {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Noise> for String {
    fn from(noise: Noise) -> Self {
        noise.to_string()
    }
}

fn one(numbers: &[f64]) -> Option<f64> {
    if let [number] = *numbers { Some(number) } else { None }
}

fn symmetric(classes: usize, rate: f64) -> Transition {
    let other = rate / (classes - 1) as f64;
    let entry = |row, column| if row == column { 1.0 - rate } else { other };
    Transition::trusted(Matrix::from_fn(classes, classes, entry))
}

fn pair(classes: usize, rate: f64) -> Transition {
    let mut matrix = Matrix::zeros(classes, classes);
    for class in 0..classes {
        matrix[(class, class)] = 1.0 - rate;
        matrix[(class, (class + 1) % classes)] = rate;
    }
    Transition::trusted(matrix)
}

/// T = a M + (1 - a) I with rows of M from a Dirichlet distribution, and a such that the mean diagonal is 1 - rate.
fn random(classes: usize, rate: f64, concentration: f64, stream: &mut Stream) -> Result<Transition, Error> {
    let flat = Dirichlet::new(Matrix::from_fn(classes, classes, |_, _| concentration))?;
    for _ in 0..TRIES {
        let drawn = flat.draw(stream);
        let trace: f64 = (0..classes).map(|class| drawn.row(class)[class]).sum();
        let share = rate * classes as f64 / (classes as f64 - trace);
        // A share above one would need negative entries on the diagonal: rare at any rate the paper uses.
        if share <= 1.0 {
            let identity = Matrix::identity(classes);
            let mixed = drawn.matrix().values().iter().zip(identity.values());
            let mixed = mixed.map(|(drawn, one)| share * drawn + (1.0 - share) * one).collect();
            return Ok(Transition::trusted(Matrix::from_vec(classes, mixed)));
        }
    }
    Err(Error::RandomRate { rate, classes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, classes: usize) -> Vec<Vec<f64>> {
        let transition = text.parse::<Noise>().unwrap().transition(classes, 1).unwrap();
        transition.matrix().iter_rows().map(<[f64]>::to_vec).collect()
    }

    fn near(row: &[f64], expected: &[f64]) {
        for (entry, expected) in row.iter().zip(expected) {
            assert!((entry - expected).abs() < 1e-15, "{row:?} is not {expected:?}");
        }
    }

    /// The row patterns of the paper's matrices, written out.
    #[test]
    fn the_matrices_of_the_paper_have_their_rows() {
        near(&rows("symmetric:0.5", 10)[3], &[1.0 / 18.0, 1.0 / 18.0, 1.0 / 18.0, 0.5, 1.0 / 18.0]);
        near(&rows("pair:0.4", 10)[9], &[0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.6]);
        near(&rows("pair2:0.3,0.2", 5)[1], &[0.0, 0.56, 0.38, 0.06, 0.0]);
        near(&rows("tridiagonal:0.3", 5)[0], &[0.58, 0.21, 0.0, 0.0, 0.21]);
        near(&rows("symmetric-inclusive:0.5", 10)[0], &[0.55, 0.05, 0.05]);
    }

    #[test]
    fn every_mistake_in_the_text_has_its_sentence() {
        let said = |text: &str| {
            let error = text.parse::<Noise>().unwrap_err();
            format!("{error}; {}", error.hint().unwrap_or_default())
        };
        assert_eq!(said("pairs:0.4"), "no noise is called `pairs`; did you mean `pair`?");
        assert_eq!(said("pair"), "`pair` is not of the form `pair:RATE`; ");
        assert_eq!(said("pair2:0.3"), "`pair2:0.3` is not of the form `pair2:FIRST,SECOND`; ");
        assert_eq!(said("pair:lots"), "`pair:lots` is not of the form `pair:RATE`; ");
        assert_eq!(said("pair:1.5"), "`noise` must be a rate in [0, 1]: pair:1.5; ");
        assert_eq!(said("symmetric:NaN"), "`noise` must be a rate in [0, 1]: symmetric:NaN; ");
        assert_eq!(said("random:0.5,0"), "`concentration` must be above 0: 0; ");
        assert_eq!(said("file:"), "`file:` is not of the form `file:PATH`; ");
    }

    #[test]
    fn a_rate_that_random_noise_cannot_have_is_refused() {
        let impossible = "random:1".parse::<Noise>().unwrap().transition(10, 0).unwrap_err();
        assert_eq!(impossible.to_string(), "random noise of rate 1 cannot be had with 10 classes");
    }

    fn noise() -> impl Strategy<Value = Noise> {
        let rate = || 0.0..=1.0_f64;
        prop_oneof![
            Just(Noise::Clean),
            rate().prop_map(|rate| Noise::Symmetric { rate }),
            rate().prop_map(|rate| Noise::SymmetricInclusive { rate }),
            rate().prop_map(|rate| Noise::Pair { rate }),
            (rate(), rate()).prop_map(|(first, second)| Noise::Pair2 { first, second }),
            rate().prop_map(|rate| Noise::Tridiagonal { rate }),
            (0.0..=0.5_f64, 0.01..10.0_f64)
                .prop_map(|(rate, concentration)| Noise::Random { rate, concentration }),
        ]
    }

    proptest! {
        #[test]
        fn the_noise_rate_is_the_asked_one(noise in noise(), classes in 2_usize..40, seed in any::<u64>()) {
            let transition = noise.transition(classes, seed).unwrap();
            let checked = Transition::new(transition.matrix().clone()).unwrap();
            prop_assert!((checked.noise_rate() - noise.rate(classes).unwrap()).abs() < 1e-12);
        }

        #[test]
        fn the_text_of_a_noise_reads_back(noise in noise()) {
            prop_assert_eq!(noise.to_string().parse::<Noise>().unwrap(), noise);
        }
    }
}
