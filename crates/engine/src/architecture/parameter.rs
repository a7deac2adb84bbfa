//! What is known of a parameter before it has a value.

use cleanest_core::random::Stream;

/// One parameter or running statistic of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSpec {
    /// The name of the layer and what it is for.
    pub name: String,
    /// The shape as PyTorch has it.
    pub shape: Vec<usize>,
    /// Which part it plays.
    pub role: Role,
}

/// Which part a parameter plays in its layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The weights of a convolution or linear layer.
    Weight,
    /// The bias of a convolution or linear layer, with the number of inputs its start depends on.
    Bias {
        /// Inputs of one output.
        fan_in: usize,
    },
    /// The scale of a batch norm.
    Scale,
    /// The shift of a batch norm.
    Shift,
    /// A running mean: kept, not trained.
    RunningMean,
    /// A running variance: kept, not trained.
    RunningVariance,
    /// How many batches the running statistics have seen: kept, not trained.
    BatchesTracked,
}

impl Role {
    /// Whether an optimizer moves it.
    #[must_use]
    pub fn is_trained(self) -> bool {
        matches!(self, Self::Weight | Self::Bias { .. } | Self::Scale | Self::Shift)
    }
}

impl ParameterSpec {
    /// How many numbers it has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Where PyTorch starts it: uniform within one over the root of the number of inputs, or a constant.
    #[must_use]
    pub fn initial(&self, seed: u64) -> Vec<f32> {
        let uniform = |fan_in: usize| {
            let bound = 1.0 / (fan_in.max(1) as f64).sqrt();
            let mut stream = Stream::new(seed, &format!("initialize/{}", self.name), 0);
            (0..self.size()).map(|_| ((2.0 * stream.uniform() - 1.0) * bound) as f32).collect()
        };
        match self.role {
            Role::Weight => uniform(self.shape[1..].iter().product()),
            Role::Bias { fan_in } => uniform(fan_in),
            Role::Scale | Role::RunningVariance => vec![1.0; self.size()],
            Role::Shift | Role::RunningMean | Role::BatchesTracked => vec![0.0; self.size()],
        }
    }
}
