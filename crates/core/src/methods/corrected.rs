//! Forward correction: the classifier's probabilities go through T before they meet the noisy label.
//!
//! Patrini, Rozza, Menon, Nock and Qu, "Making deep neural networks robust to label noise", CVPR 2017.

use super::prelude::*;

/// Cross-entropy while T is not known; once it is, the negative log-likelihood of the label through T.
#[derive(Debug, Default)]
pub(super) struct Corrected {
    clean: Softmax,
    noise: Channel,
    transition: Option<Transition>,
}

impl Corrected {
    /// Corrects with this matrix from now on.
    pub(super) fn set(&mut self, transition: Option<Transition>) {
        if let Some(transition) = &transition {
            self.noise.set(transition.matrix());
        }
        self.transition = transition;
    }

    pub(super) fn transition(&self) -> Option<&Transition> {
        self.transition.as_ref()
    }

    pub(super) fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        self.clean.of(batch.logits);
        match self.transition {
            None => label_loss(batch, &self.clean, gradient, |log_p| (-log_p, 1.0)),
            Some(_) => noisy_nll(batch, &self.clean, &self.noise, gradient, |_, _| {}),
        }
    }

    pub(super) fn save(&self, state: State) -> State {
        let values = self.transition.as_ref().map(|transition| transition.matrix().values());
        values.map_or(state.clone(), |values| state.with("transition", values))
    }

    pub(super) fn load(&mut self, state: &State, classes: usize) -> Result<(), Error> {
        let known = state.has("transition").then(|| state.square("transition", classes)).transpose()?;
        self.set(known.map(Transition::new).transpose()?);
        Ok(())
    }
}

/// A method that trains once to estimate T, and once more, from the start, to correct with it.
pub(super) struct EstimateThenCorrect<E> {
    estimate: E,
    corrected: Corrected,
    classes: usize,
}

impl<E> EstimateThenCorrect<E>
where
    E: Fn(&Posteriors<'_>) -> Result<Transition, Error> + Send + 'static,
{
    /// A method whose T is `estimate` of the posteriors of its first stage.
    pub(super) fn boxed(task: &Task, estimate: E) -> Box<dyn Method> {
        Box::new(Self { estimate, corrected: Corrected::default(), classes: task.classes })
    }
}

impl<E> Method for EstimateThenCorrect<E>
where
    E: Fn(&Posteriors<'_>) -> Result<Transition, Error> + Send,
{
    fn stages(&self) -> usize {
        2
    }

    fn begins_plainly(&self) -> bool {
        true
    }

    fn begin(&mut self, stage: usize, seen: Option<&Posteriors<'_>>) -> Result<(), Error> {
        let transition = match (stage, seen) {
            (0, _) => None,
            (_, Some(seen)) => Some((self.estimate)(seen)?),
            (stage, None) => return Err(Error::NoPosteriors(stage)),
        };
        self.corrected.set(transition);
        Ok(())
    }

    fn loss(&mut self, batch: &Batch<'_>, gradient: &mut Matrix) -> f64 {
        self.corrected.loss(batch, gradient)
    }

    fn transition(&self) -> Option<Transition> {
        self.corrected.transition().cloned()
    }

    fn state(&self) -> State {
        self.corrected.save(State::default())
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.corrected.load(state, self.classes)
    }
}
