//! How an audit did, where the truth is known.

use super::examine::Audit;
use super::passes::Pass;
use super::record::{AuditScore, CalibrationRecord, PrecisionAt};
use super::table::Table;
use crate::Error;
use cleanest_core::Error as Problem;
use cleanest_core::audit::{Block, Channel, Probability, Undo, Verdict, average_precision, precision_at};
use cleanest_core::noise::Transition;
use cleanest_core::stats::{calibration_bins, expected_calibration_error};

/// Parts of the unit interval for calibration.
const BINS: usize = 15;

/// What there is to compare with.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'a> {
    /// The true class of each example.
    pub labels: &'a [u32],
    /// The noise that was injected, where it is known.
    pub noise: Option<&'a Transition>,
}

impl Truth<'_> {
    /// Compares what an audit says of each example with the truth.
    pub fn score(&self, audit: &Audit, table: &Table<'_>, given: &[u32]) -> Result<AuditScore, Error> {
        let (expected, found) = (given.len(), self.labels.len());
        if expected != found {
            return Err(cleanest_core::Error::Length { labels: found, examples: expected }.into());
        }
        let undo = (audit.record.confident.is_some()).then(|| Undo::new(&audit.noise));
        let channel = Channel::new(&audit.noise);
        let fresh = || VerdictPass { channel: &channel, undo: undo.as_ref(), verdicts: Vec::new() };
        let verdicts = table.pass(fresh)?.verdicts;
        let is_wrong: Vec<bool> =
            given.iter().zip(self.labels).map(|(given, truth)| given != truth).collect();
        let wrong = is_wrong.iter().filter(|wrong| **wrong).count();
        let mut order: Vec<usize> = (0..verdicts.len()).collect();
        order.sort_by(|&a, &b| verdicts[b].wrong.total_cmp(&verdicts[a].wrong).then(a.cmp(&b)));
        let ranked: Vec<bool> = order.iter().map(|&row| is_wrong[row]).collect();
        let confidence: Vec<f64> = verdicts.iter().map(|verdict| verdict.wrong).collect();
        let share = |count: usize, of: usize| if of == 0 { 1.0 } else { count as f64 / of as f64 };
        let right = |row: &usize| verdicts[*row].suggested == self.labels[*row];
        let rows = 0..given.len();
        let suggested_right = rows.clone().filter(|row| is_wrong[*row] && right(row)).count();
        let bins = calibration_bins(&confidence, &is_wrong, BINS);
        let counts = [10, 100, 1000, 10_000, wrong];
        let mut counts: Vec<usize> = counts.into_iter().filter(|&n| n > 0 && n <= given.len()).collect();
        counts.sort_unstable();
        counts.dedup();
        Ok(AuditScore {
            wrong,
            wrong_covered: (audit.record.wrong.low..=audit.record.wrong.high).contains(&(wrong as f64)),
            average_precision: average_precision(&ranked),
            precision_at: counts
                .into_iter()
                .map(|examples| PrecisionAt { examples, precision: precision_at(&ranked, examples) })
                .collect(),
            suggestions_right: share(suggested_right, wrong),
            right_before: share(given.len() - wrong, given.len()),
            right_after: share(rows.filter(right).count(), given.len()),
            calibration_error: expected_calibration_error(&confidence, &is_wrong, BINS),
            calibration: bins
                .into_iter()
                .map(|bin| CalibrationRecord {
                    examples: bin.count,
                    expected: bin.confidence,
                    wrong: bin.accuracy,
                })
                .collect(),
            transition_covered: self.noise.map(|noise| covered(audit, noise)),
        })
    }
}

/// The share of the entries of the true matrix that lie in their intervals.
fn covered(audit: &Audit, truth: &Transition) -> f64 {
    let (low, high) =
        (audit.record.transition.low.iter().flatten(), audit.record.transition.high.iter().flatten());
    let entries = truth.matrix().values();
    // A zero is covered by what a float cannot tell from zero.
    let inside = |((low, high), entry): &((&f64, &f64), &f64)| **low - 1e-3 <= **entry && **entry <= **high;
    low.zip(high).zip(entries).filter(inside).count() as f64 / entries.len() as f64
}

struct VerdictPass<'a> {
    channel: &'a Channel,
    undo: Option<&'a Undo>,
    verdicts: Vec<Verdict>,
}

impl Pass for VerdictPass<'_> {
    fn block<P: Probability>(&mut self, block: &Block<'_, P>) -> Result<(), Problem> {
        let [mut clean, mut room, mut posterior] = [(); 3].map(|()| vec![0.0; block.classes()]);
        for (_, row, label) in block.rows() {
            if let Some(undo) = self.undo {
                undo.of(row, (&mut clean, &mut room));
                self.channel.posterior(&clean, label, &mut posterior);
            } else {
                self.channel.posterior(row, label, &mut posterior);
            }
            self.verdicts.push(Verdict::of(&posterior, label));
        }
        Ok(())
    }

    fn merge(&mut self, mut next: Self) {
        self.verdicts.append(&mut next.verdicts);
    }
}
