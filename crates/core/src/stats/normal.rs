//! The normal distribution.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// The value below which a standard normal variable lies with this probability.
#[must_use]
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::normal_quantile;

    #[test]
    fn nineteen_of_twenty_lie_within_1_96_deviations() {
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-6);
        assert!(normal_quantile(0.5).abs() < 1e-12);
    }
}
