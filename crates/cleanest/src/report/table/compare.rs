//! Our number beside the paper's.

use super::Metric;

/// What a table of the paper has in a cell, as it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The mean.
    pub mean: String,
    /// The deviation, where it is known.
    pub deviation: Option<String>,
}

/// How our mean lies to theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Within two deviations.
    Within(Whose),
    /// Beyond, on the good side.
    Better(Whose),
    /// Beyond, on the bad side.
    Worse(Whose),
    /// No deviation is known, but ours is as good, to the digits they print.
    NoWorse,
    /// No deviation is known, and ours is behind by so much.
    Behind(f64),
}

/// Whose deviations are meant: where theirs are not known, those of our own trials stand in for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The paper's.
    Theirs,
    /// Ours.
    Ours,
}

/// A cell of the paper, and how ours compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the paper prints.
    pub theirs: Printed,
    /// How ours lies to it.
    pub verdict: Verdict,
}

impl Comparison {
    /// Compares our mean, and the deviation of our trials where there are several, with what is printed.
    #[must_use]
    pub fn new((ours, spread): (f64, Option<f64>), theirs: Printed, metric: Metric) -> Self {
        let mean: f64 = theirs.mean.parse().unwrap_or(f64::NAN);
        let decimals = theirs.mean.split_once('.').map_or(0, |(_, digits)| digits.len());
        // What they print is rounded, and may be off by half of its last digit.
        let rounding = 0.5 * 10_f64.powi(-(decimals as i32)) + 1e-9;
        let ahead = metric.merit(ours) - metric.merit(mean);
        let deviation = theirs.deviation.as_ref().and_then(|deviation| deviation.parse::<f64>().ok());
        let deviation =
            deviation.map(|found| (found, Whose::Theirs)).or(spread.map(|found| (found, Whose::Ours)));
        let verdict = match deviation {
            Some((deviation, whose)) if ahead.abs() <= 2.0 * deviation + rounding => Verdict::Within(whose),
            Some((_, whose)) if ahead > 0.0 => Verdict::Better(whose),
            Some((_, whose)) => Verdict::Worse(whose),
            None if ahead >= -rounding => Verdict::NoWorse,
            None => Verdict::Behind(-ahead),
        };
        Self { theirs, verdict }
    }
}

impl std::fmt::Display for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.mean)?;
        self.deviation.as_ref().map_or(Ok(()), |deviation| write!(f, "({deviation})"))
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Within(whose) => write!(f, "within{whose}"),
            Self::Better(whose) => write!(f, "better{whose}"),
            Self::Worse(whose) => write!(f, "worse{whose}"),
            Self::NoWorse => f.write_str("no worse"),
            Self::Behind(by) => write!(f, "behind by {by:.2}"),
        }
    }
}

impl std::fmt::Display for Whose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Self::Ours { " ours" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(ours: f64, mean: &str, deviation: Option<&str>, metric: Metric) -> Verdict {
        let theirs = Printed { mean: mean.into(), deviation: deviation.map(str::to_owned) };
        Comparison::new((ours, None), theirs, metric).verdict
    }

    #[test]
    fn our_deviation_stands_in_for_one_that_is_not_known() {
        let verdict = |ours, spread| {
            let theirs = Printed { mean: "2.06".into(), deviation: None };
            Comparison::new((ours, Some(spread)), theirs, Metric::AverageTv).verdict
        };
        assert_eq!(verdict(2.30, 0.15), Verdict::Within(Whose::Ours));
        assert_eq!(verdict(2.50, 0.15), Verdict::Worse(Whose::Ours));
        assert_eq!(verdict(1.50, 0.15), Verdict::Better(Whose::Ours));
        assert_eq!(verdict(2.50, 0.15).to_string(), "worse ours");
    }

    #[test]
    fn two_deviations_either_way_are_within() {
        use Metric::{Accuracy, AverageTv};
        use Verdict::{Better, Within, Worse};
        let theirs = Whose::Theirs;
        for (ours, metric, expected) in [
            (66.47 + 9.5, Accuracy, Within(theirs)),
            (66.47 - 9.5, Accuracy, Within(theirs)),
            (66.47 + 9.6, Accuracy, Better(theirs)),
            (66.47 - 9.6, Accuracy, Worse(theirs)),
            (66.47 + 9.6, AverageTv, Worse(theirs)),
            (66.47 - 9.6, AverageTv, Better(theirs)),
        ] {
            assert_eq!(verdict(ours, "66.47", Some("4.76"), metric), expected, "{ours}");
        }
    }

    #[test]
    fn without_a_deviation_only_what_is_behind_is_open() {
        assert_eq!(verdict(34.14, "34.1", None, Metric::AverageTv), Verdict::NoWorse);
        assert_eq!(verdict(99.3, "99.09", None, Metric::Accuracy), Verdict::NoWorse);
        let Verdict::Behind(by) = verdict(98.59, "99.09", None, Metric::Accuracy) else {
            panic!("not behind")
        };
        assert!((by - 0.5).abs() < 1e-9);
    }
}
