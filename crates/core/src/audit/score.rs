//! How good a ranking was, once the truth is known.

/// Average precision: the mean over the wrong labels of the precision at the place where each is found.
///
/// `ranked` says of each example, most suspicious first, whether its label is wrong.
#[must_use]
pub fn average_precision(ranked: &[bool]) -> f64 {
    let (mut found, mut sum) = (0_usize, 0.0);
    for (place, _) in ranked.iter().enumerate().filter(|(_, wrong)| **wrong) {
        found += 1;
        sum += found as f64 / (place + 1) as f64;
    }
    if found == 0 { 0.0 } else { sum / found as f64 }
}

/// The share of wrong labels among the first `examples` of the ranking; of all, if there are fewer.
#[must_use]
pub fn precision_at(ranked: &[bool], examples: usize) -> f64 {
    let first = &ranked[..examples.min(ranked.len())];
    first.iter().filter(|wrong| **wrong).count() as f64 / first.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn average_precision_is_the_mean_precision_where_wrong_ones_are_found() {
        let ranked = [true, false, true, false];
        assert!((average_precision(&ranked) - f64::midpoint(1.0, 2.0 / 3.0)).abs() < 1e-12);
        assert!((average_precision(&[true, true]) - 1.0).abs() < 1e-12);
        assert!(average_precision(&[false]).abs() < 1e-12);
        assert!((precision_at(&ranked, 3) - 2.0 / 3.0).abs() < 1e-12);
        assert!((precision_at(&ranked, 10) - 0.5).abs() < 1e-12);
    }
}
