//! What the numbers mean, and what they do not cover.

use super::facts::Facts;
use super::words::count;
use crate::audit::{Posterior, Provenance};
use maud::{Markup, html};

pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let audit = &facts.audit;
    html! {
        p {
            strong { "P(wrong)" } " is the probability, given the example and its label, that the example is of another "
            "class. " (source(facts))
            @if let Some(temperature) = audit.temperature {
                " It was calibrated with the temperature " (format!("{temperature:.2}")) "."
            }
        }
        p {
            "The intervals cover what chance does to " (count(audit.examples)) " examples, if the model is right. They do "
            "not cover a model that is wrong: a network that has memorized labels, or that cannot tell two classes apart "
            "at all, or noise that depends on more than the true class (labels that are wrong for hard examples only). "
            "Where a class is most often labeled as another one, no method can tell which of the two is meant. "
            "An example that is marked " em { "too close to call" } " looks like two classes at once: its suggestion is a "
            "guess. Before many labels are changed, look at some: that is what the list of suspects is for."
        }
    }
}

/// Where the probabilities came from, and what that means for them.
fn source(facts: &Facts<'_>) -> Markup {
    let audit = &facts.audit;
    html! {
        @match &audit.probabilities {
            Provenance::Folds { folds } => {
                "It comes from " (folds) " networks, each asked about examples it was not trained on."
            }
            Provenance::RunningMean => {
                "It comes from the mean of what the network said of an example while it was trained, over the second half "
                "of the steps."
            }
            Provenance::Final => {
                "It comes from the network after its last step, asked about examples it was trained on: it may have "
                "memorized some labels, and finds fewer wrong ones then."
            }
            Provenance::File { path } => {
                "It comes from the probabilities in " code { (path) } ": if the model that made them was trained on the same "
                "examples, it may have memorized some labels."
            }
        }
        @if audit.posterior == Posterior::Noisy {
            " The probabilities are of the labels as given; confident learning counted how often they contradict the label "
            "with confidence."
        }
    }
}
