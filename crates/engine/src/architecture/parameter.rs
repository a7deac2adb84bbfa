//! What is known of a parameter before it has a value.

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
