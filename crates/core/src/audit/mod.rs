//! Which labels are wrong, how many, and what they should be: from probabilities and labels alone.
//!
//! Two readings of the probabilities. If they are of the *true* class, the answer is Bayes' theorem
//! ([`Channel`], [`Verdict`]): p(true = k | x, given = y) ∝ p(k | x) T\[k\]\[y\]. If they are of the *given* label, as those of
//! any model trained on the labels as they are, the answer is confident learning ([`Thresholds`], [`Joint`]).
//!
//! Everything is counted block by block, by states that can be merged ([`Census`], [`Joint`], [`Tally`], [`Best`]), so
//! that neither the number of examples nor the number of workers is bounded by memory, nor the answer by either.

mod best;
mod block;
mod census;
mod channel;
mod joint;
mod label_lists;
mod prune;
mod score;
mod search;
mod tally;
mod temperature;

pub use best::{Best, Pick, Ranked};
pub use block::{Block, Probability, TOLERANCE};
pub use census::{Census, Thresholds};
pub use channel::{Channel, Undo, Verdict};
pub use joint::Joint;
pub use prune::{Prune, Pruning};
pub use score::{average_precision, precision_at};
pub use search::Search;
pub use tally::{Counted, MODEL_ERROR, Tally};
pub use temperature::{Calibrated, calibrated, calibrated_to, sharpened};
