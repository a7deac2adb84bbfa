//! Who watches a run.

use cleanest_core::noise::Transition;

/// Where a run stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Steps made, over all stages.
    pub step: u64,
    /// Steps in all.
    pub steps: u64,
    /// The loss of the last step.
    pub loss: f64,
    /// The last accuracy on the test set, if there is one.
    pub accuracy: Option<f64>,
    /// The noise as it now looks, when it was last looked at.
    pub transition: Option<&'a Transition>,
}

/// Someone who watches a run.
pub trait Observer {
    /// Called after each step.
    fn step(&mut self, progress: &Progress<'_>);

    /// Called with a sentence the user should read.
    fn note(&mut self, sentence: &str);

    /// Called with a sentence that is good to know.
    fn remark(&mut self, _sentence: &str) {}
}

/// Someone who does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn step(&mut self, _progress: &Progress<'_>) {}
    fn note(&mut self, _sentence: &str) {}
}
