//! `exp` and `ln` that the compiler can run on whole vectors, with the same bits on every machine.
//!
//! The ones of the standard library call the platform's C library once per number: too slow for a batch of 512 x 100
//! logits, and not the same to the last bit everywhere. These have no branch and no table, use no fused
//! multiply-add, and are within two units in the last place (tested against the standard library).

// The constants are the published ones, with all their digits.
#![allow(clippy::excessive_precision, clippy::unreadable_literal)]

/// Compiles a function for several widths of vectors; which one runs is chosen by the machine it runs on.
///
/// What it calls must be `#[inline(always)]` to be compiled along. The results do not depend on the choice, as long as no
/// sum does: entries of a vector are rounded as single numbers are.
macro_rules! vectorized {
    ($($function:item)+) => {
        $(
            #[multiversion::multiversion(targets(
                "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+bmi1+bmi2+lzcnt+movbe+popcnt",
                "x86_64+avx+avx2+bmi1+bmi2+lzcnt+movbe+popcnt"
            ))]
            $function
        )+
    };
}
pub(crate) use vectorized;

const LN_2_HIGH: f64 = 6.93147180369123816490e-01;
const LN_2_LOW: f64 = 1.90821492927058770002e-10;
/// Adding this to a number below 2^51 leaves its nearest whole number in the low bits.
const ROUND: f64 = 6755399441055744.0;
/// Below this, `exp` is zero: what is left are denormal numbers, and nothing here needs them.
const SMALLEST_EXPONENT: f64 = -708.0;

/// e to the power `x`, for `x` up to 709; zero below -708.
#[inline(always)]
#[must_use]
pub fn exp(x: f64) -> f64 {
    let inside = x.max(SMALLEST_EXPONENT);
    let shifted = inside * std::f64::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = (inside - whole * LN_2_HIGH) - whole * LN_2_LOW;
    // The Taylor series: |rest| is at most ln 2 / 2, where the first term left out is below 1e-17.
    let mut series = 1.0 / 6_227_020_800.0;
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        series = series * rest + 1.0 / factorial;
    }
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    // What is not a number must stay so, for a trainer looks for it in the loss.
    if x >= SMALLEST_EXPONENT {
        series * power
    } else if x < SMALLEST_EXPONENT {
        0.0
    } else {
        x
    }
}

/// The natural logarithm of a positive, normal number; what is not a number stays so.
///
/// The reduction and the polynomial are those of the FreeBSD mathematical library (`e_log.c`).
#[inline(always)]
#[must_use]
pub fn ln(x: f64) -> f64 {
    const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    let moved = x.to_bits().wrapping_add(ONE - HALF_ROOT);
    let exponent = f64::from_bits((moved >> 52) | 0x4330_0000_0000_0000) - (4503599627370496.0 + 1023.0);
    let f = f64::from_bits((moved & 0x000f_ffff_ffff_ffff) + HALF_ROOT) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut series = 1.479819860511658591e-01;
    for coefficient in [
        1.531383769920937332e-01,
        1.818357216161805012e-01,
        2.222219843214978396e-01,
        2.857142874366239149e-01,
        3.999999999940941908e-01,
        6.666666666666735130e-01,
    ] {
        series = series * z + coefficient;
    }
    let tail = s * (half_square + series * z) + exponent * LN_2_LOW;
    let found = exponent * LN_2_HIGH - ((half_square - tail) - f);
    if x.is_nan() { x } else { found }
}

/// The cosine of `turns` whole turns, for 0 to 1 of them; to 1e-15, which is enough to throw dice with.
#[inline(always)]
#[must_use]
pub(crate) fn cosine_of_turns(turns: f64) -> f64 {
    // Folded into the first quarter, where the Taylor series up to the 22nd power is exact enough; each term is the
    // one before it over n (n - 1).
    let from_half = (turns - 0.5).abs();
    let near = if from_half > 0.25 { 0.5 - from_half } else { from_half };
    let angle = near * std::f64::consts::TAU;
    let square = angle * angle;
    let mut series = 1.0;
    for product in [462.0, 380.0, 306.0, 240.0, 182.0, 132.0, 90.0, 56.0, 30.0, 12.0, 2.0] {
        series = 1.0 - series * square * (1.0 / product);
    }
    if from_half > 0.25 { series } else { -series }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn units_in_the_last_place(ours: f64, exact: f64) -> f64 {
        (ours - exact).abs() / (exact.abs() * f64::EPSILON)
    }

    #[test]
    fn exp_is_within_two_units_of_the_last_place() {
        let mut stream = Stream::new(0, "exp", 0);
        for _ in 0..200_000 {
            let x = stream.uniform() * 1416.0 - 707.5;
            assert!(units_in_the_last_place(exp(x), x.exp()) <= 2.0, "exp({x})");
        }
        assert_eq!(exp(0.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(exp(-1e300).to_bits(), 0);
        assert_eq!(exp(f64::NEG_INFINITY).to_bits(), 0);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn the_cosine_is_the_cosine() {
        for place in 0..=10_000 {
            let turns = f64::from(place) / 10_000.0;
            let exact = (turns * std::f64::consts::TAU).cos();
            assert!(
                (cosine_of_turns(turns) - exact).abs() < 2e-15,
                "{turns}: {} {exact}",
                cosine_of_turns(turns)
            );
        }
    }

    #[test]
    fn ln_is_within_two_units_of_the_last_place() {
        let mut stream = Stream::new(0, "ln", 0);
        for _ in 0..200_000 {
            let near_one = 1.0 + (stream.uniform() - 0.5);
            let anywhere = exp(stream.uniform() * 1400.0 - 700.0);
            for x in [near_one, anywhere, stream.uniform()] {
                assert!(units_in_the_last_place(ln(x), x.ln()) <= 2.0, "ln({x})");
            }
        }
        assert_eq!(ln(1.0).to_bits(), 0);
        assert!(ln(f64::NAN).is_nan());
        assert!(ln(f64::MIN_POSITIVE) > -709.0);
    }
}
