//! Whether "70 % sure" is right seven times out of ten.

/// The predictions whose confidence falls into one part of the unit interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CalibrationBin {
    /// How many there are.
    pub count: usize,
    /// Their mean confidence.
    pub confidence: f64,
    /// The share of them that came true.
    pub accuracy: f64,
}

/// Predictions in `bins` equal parts of the unit interval, lowest confidence first.
///
/// # Panics
/// If there is not an outcome for each confidence, or no bin: a bug of the caller.
#[must_use]
pub fn calibration_bins(confidence: &[f64], came_true: &[bool], bins: usize) -> Vec<CalibrationBin> {
    assert_eq!(confidence.len(), came_true.len(), "an outcome for each confidence");
    assert!(bins > 0, "at least one bin");
    let mut found = vec![CalibrationBin::default(); bins];
    for (&confidence, &came_true) in confidence.iter().zip(came_true) {
        let bin = &mut found[((confidence * bins as f64) as usize).min(bins - 1)];
        bin.count += 1;
        bin.confidence += confidence;
        bin.accuracy += f64::from(u8::from(came_true));
    }
    for bin in found.iter_mut().filter(|bin| bin.count > 0) {
        bin.confidence /= bin.count as f64;
        bin.accuracy /= bin.count as f64;
    }
    found
}

/// The gap between confidence and accuracy, averaged over the predictions, bin by bin.
///
/// Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015.
#[must_use]
pub fn expected_calibration_error(confidence: &[f64], came_true: &[bool], bins: usize) -> f64 {
    let bins = calibration_bins(confidence, came_true, bins);
    let gap = |bin: &CalibrationBin| bin.count as f64 * (bin.confidence - bin.accuracy).abs();
    bins.iter().map(gap).sum::<f64>() / confidence.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_mean_gap_over_the_bins() {
        let confidence = [0.95, 0.95, 0.95, 0.95, 0.15, 0.15, 1.0];
        let came_true = [true, true, true, false, false, true, true];
        // Bins of five: 0.8-1.0 holds five with mean 0.96 of which 0.8 came true; 0.0-0.2 holds two, 0.15 and 0.5.
        let expected = (5.0 * (0.96 - 0.8) + 2.0 * (0.5 - 0.15)) / 7.0;
        assert!((expected_calibration_error(&confidence, &came_true, 5) - expected).abs() < 1e-12);
    }

    #[test]
    fn perfect_confidence_has_no_error_and_nothing_has_none() {
        assert!(expected_calibration_error(&[0.0, 1.0, 1.0], &[false, true, true], 15) < 1e-15);
        assert!(expected_calibration_error(&[], &[], 15) < 1e-15);
    }
}
