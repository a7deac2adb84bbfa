//! A handful of trials in two numbers.

/// Mean and deviation over trials, as the paper's tables print them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many trials there were.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation (over n - 1); zero for a single trial.
    pub deviation: f64,
}

impl Summary {
    /// Sums up the values, or nothing if there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        Some(Self { count, mean, deviation })
    }

    /// How far the mean may be off: the deviation over the root of the number of trials.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.deviation / (self.count as f64).sqrt()
    }
}

impl std::fmt::Display for Summary {
    /// `mean(deviation)` with two decimals, unless asked for others.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = f.precision().unwrap_or(2);
        write!(f, "{:.decimals$}({:.decimals$})", self.mean, self.deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_sample_deviation_are_those_of_the_textbook() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((summary.mean - 5.0).abs() < 1e-15);
        assert!((summary.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(summary.to_string(), "5.00(2.14)");
        assert_eq!(format!("{summary:.1}"), "5.0(2.1)");
    }

    #[test]
    fn one_trial_has_no_deviation_and_none_no_summary() {
        assert_eq!(Summary::of(&[3.0]).unwrap().to_string(), "3.00(0.00)");
        assert!(Summary::of(&[]).is_none());
    }
}
