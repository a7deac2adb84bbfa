//! One-tailed t-tests: is the first mean higher than chance would have it?

use super::Summary;
use crate::Error;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// The probability of a difference at least this large if the mean of `a` were not above that of `b`.
///
/// Welch's test: the two groups may have different deviations and sizes.
pub fn welch_t_test(a: &[f64], b: &[f64]) -> Result<f64, Error> {
    let (a, b) = (summary(a)?, summary(b)?);
    let (va, vb) = (a.standard_error().powi(2), b.standard_error().powi(2));
    let freedom = (va + vb).powi(2) / (va.powi(2) / (a.count - 1) as f64 + vb.powi(2) / (b.count - 1) as f64);
    Ok(upper_tail(a.mean - b.mean, (va + vb).sqrt(), freedom))
}

/// The same for trials that belong together two by two: the same seed, the same split.
pub fn paired_t_test(a: &[f64], b: &[f64]) -> Result<f64, Error> {
    if a.len() != b.len() {
        return Err(Error::Unpaired(a.len(), b.len()));
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let difference = summary(&differences)?;
    Ok(upper_tail(difference.mean, difference.standard_error(), (difference.count - 1) as f64))
}

fn summary(values: &[f64]) -> Result<Summary, Error> {
    Summary::of(values).filter(|summary| summary.count >= 2).ok_or(Error::TooFewTrials(values.len()))
}

/// The probability that Student's t exceeds `difference / error`.
fn upper_tail(difference: f64, error: f64, freedom: f64) -> f64 {
    // Trials without any deviation leave no doubt, unless there is no difference either.
    if error == 0.0 {
        return if difference > 0.0 {
            0.0
        } else if difference < 0.0 {
            1.0
        } else {
            0.5
        };
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.sf(difference / error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two trials a unit apart around a mean, so that t and its degrees of freedom are chosen at will.
    fn with_mean_and_error(mean: f64, error: f64, count: usize) -> Vec<f64> {
        let step = error * (count as f64).sqrt() * ((count - 1) as f64 / count as f64).sqrt();
        (0..count).map(|at| mean + if at % 2 == 0 { step } else { -step }).collect()
    }

    /// Upper 5 %, 2.5 % and 1 % points of Student's t, from the printed tables.
    #[test]
    fn the_paired_test_meets_the_tabulated_points() {
        for (count, point, tail) in
            [(2, 6.314, 0.05), (4, 3.182, 0.025), (6, 2.015, 0.05), (10, 2.821, 0.01), (20, 1.729, 0.05)]
        {
            let a = with_mean_and_error(point, 1.0, count);
            let p = paired_t_test(&a, &vec![0.0; count]).unwrap();
            assert!((p - tail).abs() < 2e-4, "t({}) = {point}: {p}", count - 1);
        }
    }

    /// Welch's own kind of case, worked by hand: means 3 apart, variances 4 and 1 of ten trials each,
    /// so t = 3 / sqrt(0.5) = 4.2426 with 0.25 / (0.16 / 9 + 0.01 / 9) = 13.235 degrees of freedom.
    #[test]
    fn welch_uses_the_degrees_of_freedom_of_welch() {
        let a = with_mean_and_error(3.0, 0.4_f64.sqrt(), 10);
        let b = with_mean_and_error(0.0, 0.1_f64.sqrt(), 10);
        let p = welch_t_test(&a, &b).unwrap();
        let exact = StudentsT::new(0.0, 1.0, 13.235_294_117_6).unwrap().sf(4.242_640_687_1);
        assert!((p - exact).abs() < 1e-9, "{p} {exact}");
        assert!((p + welch_t_test(&b, &a).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn trials_without_deviation_are_decided_by_their_means() {
        assert_eq!(welch_t_test(&[2.0, 2.0], &[1.0, 1.0]).unwrap().to_bits(), 0.0_f64.to_bits());
        assert_eq!(welch_t_test(&[1.0, 1.0], &[1.0, 1.0]).unwrap().to_bits(), 0.5_f64.to_bits());
    }

    #[test]
    fn too_few_trials_are_refused() {
        assert!(matches!(welch_t_test(&[1.0], &[1.0, 2.0]), Err(Error::TooFewTrials(1))));
        assert!(matches!(paired_t_test(&[1.0, 2.0], &[1.0]), Err(Error::Unpaired(2, 1))));
    }
}
