//! From numbers to places, and the round numbers along an axis.

/// A range of numbers laid along a line of pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    first: f64,
    last: f64,
}

impl Scale {
    /// The numbers `from..to` between the pixels `first` and `last`.
    pub(super) fn new((from, to): (f64, f64), (first, last): (f64, f64)) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, first, last }
    }

    /// Where a number lies.
    pub(super) fn place(&self, number: f64) -> f64 {
        let share = (number - self.from) / (self.to - self.from);
        self.first + share.clamp(0.0, 1.0) * (self.last - self.first)
    }

    /// About so many round numbers within the range.
    pub(super) fn ticks(&self, about: usize) -> Vec<f64> {
        let step = round_step((self.to - self.from) / about.max(1) as f64);
        let (begin, end) = ((self.from / step - 1e-9).ceil() as i64, (self.to / step + 1e-9).floor() as i64);
        (begin..=end).map(|at| at as f64 * step).collect()
    }
}

/// The range of some numbers, widened to round ones.
pub(super) fn round_range(numbers: impl Iterator<Item = f64>, about: usize) -> (f64, f64) {
    let (low, high) = numbers
        .filter(|number| number.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
    if low > high {
        return (0.0, 1.0);
    }
    let step = round_step((high - low).max(high.abs() * 1e-6).max(1e-9) / about as f64);
    ((low / step).floor() * step, (high / step).ceil() * step)
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|times| step <= times * power * (1.0 + 1e-9));
    times.unwrap_or(10.0) * power
}

/// A number at an axis, as short as its step allows.
pub(super) fn tick_text(number: f64, ticks: &[f64], percent: bool) -> String {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0);
    let (number, step) = if percent { (100.0 * number, 100.0 * step) } else { (number, step) };
    let is_whole = |number: f64| (number - number.round()).abs() < 1e-6;
    let digits = (0..6).find(|&digits| is_whole(step * 10_f64.powi(digits))).unwrap_or(6);
    let text = format!("{number:.*}", digits as usize);
    if percent { format!("{text} %") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_range() {
        let scale = Scale::new((0.0, 600.0), (0.0, 300.0));
        assert_eq!(scale.ticks(4), [0.0, 200.0, 400.0, 600.0]);
        assert_eq!(scale.place(300.0), 150.0);
        let shares = Scale::new((0.3, 0.45), (100.0, 0.0)).ticks(4);
        assert_eq!(tick_text(shares[0], &shares, true), "30 %");
        assert_eq!(shares.len(), 4);
    }

    #[test]
    fn a_range_holds_what_it_is_the_range_of() {
        for numbers in [vec![0.12, 0.43], vec![-3.0, 7.5, f64::NAN], vec![2.0], vec![0.0, 0.0], vec![]] {
            let (low, high) = round_range(numbers.iter().copied(), 4);
            assert!(low.is_finite() && high.is_finite() && low <= high, "{numbers:?}");
            assert!(numbers.iter().all(|&number| number.is_nan() || (low..=high).contains(&number)));
        }
    }
}
