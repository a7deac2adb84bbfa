//! Numbers as people write them.

use crate::audit::Estimate;
use maud::{Markup, html};

/// A space at which no line ends.
pub(super) const SPACE: char = '\u{a0}';

/// A count: `1,437`.
pub(super) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An expected count, rounded.
pub(super) fn about(number: f64) -> String {
    count(number.max(0.0).round() as usize)
}

/// A share with one digit behind the point: `28.7 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}{SPACE}%", 100.0 * share)
}

/// A probability in whole percent: a model is never certain, whatever its numbers are rounded to.
pub(super) fn probability(share: f64) -> String {
    match 100.0 * share {
        p if p >= 99.5 => format!(">{SPACE}99{SPACE}%"),
        p if p < 0.5 => format!("<{SPACE}1{SPACE}%"),
        p => format!("{p:.0}{SPACE}%"),
    }
}

/// A part of a whole; nothing has no part.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// One thing, or many.
pub(super) fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A name from a file: it may run from right to left, and what follows it does not.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi { (text) } }
}

/// A share as a bar, beside the number that says the same.
pub(super) fn bar(share: f64) -> Markup {
    html! {
        svg.bar viewBox="0 0 50 8" width="50" height="8" aria-hidden="true" {
            rect.track width="50" height="8" {}
            rect.fill width=(format!("{:.1}", 50.0 * share.clamp(0.0, 1.0))) height="8" {}
        }
    }
}

/// The bounds of an expected count: `382 to 442`.
pub(super) fn bounds(estimate: Estimate) -> String {
    format!("{} to {}", about(estimate.low), about(estimate.high))
}

/// An expected count with its doubt: `412 ± 30`, or both bounds where they are not alike.
pub(super) fn doubted(estimate: Estimate) -> String {
    match estimate.give_or_take() {
        Some(half) => format!("{}{SPACE}±{SPACE}{}", about(estimate.expected), about(half)),
        None => format!("{} ({})", about(estimate.expected), bounds(estimate)),
    }
}

/// The day of a time in seconds since 1970, in UTC: `2026-11-15 13:38 UTC`.
pub(super) fn day(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's civil_from_days: years begin in March, so that the leap day is their last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * from_march + 2) / 5 + 1, (from_march + 2) % 12 + 1);
    let year = year_of_era + 400 * era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest % 3600 / 60)
}

/// How long something took: `0.2 s`, `3 min 20 s`, `2 h 5 min`.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..=9 => format!("{seconds:.1} s"),
        10..=59 => format!("{whole} s"),
        60..=3599 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas_where_people_put_them() {
        let written = [0, 7, 999, 1000, 1437, 60_000, 10_000_000].map(count);
        assert_eq!(written, ["0", "7", "999", "1,000", "1,437", "60,000", "10,000,000"]);
    }

    #[test]
    fn an_estimate_is_told_with_its_doubt() {
        let estimate = |expected, low, high| doubted(Estimate { expected, low, high }).replace(SPACE, " ");
        assert_eq!(estimate(412.2, 382.4, 441.9), "412 ± 30");
        assert_eq!(
            estimate(3.0, 0.0, 14.0),
            "3 (0 to 14)",
            "what is not symmetric is not told as if it were"
        );
    }

    #[test]
    fn nothing_is_shown_as_certain() {
        let shown = [0.0, 0.001, 0.37, 0.994, 0.9999, 1.0].map(|p| probability(p).replace(SPACE, " "));
        assert_eq!(shown, ["< 1 %", "< 1 %", "37 %", "99 %", "> 99 %", "> 99 %"]);
    }

    /// Days as `date -u -d @SECONDS` writes them.
    #[test]
    fn seconds_become_days() {
        assert_eq!(day(0), "1970-01-01 00:00 UTC");
        assert_eq!(day(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(day(1_794_749_940), "2026-11-15 13:39 UTC");
    }
}
