//! A classifier without a network: three Gaussian classes in the plane, softmax of a linear map, gradient descent.

use cleanest_core::Matrix;
use cleanest_core::estimate::{Posteriors, frequencies, soft_confusion};
use cleanest_core::methods::{Alone, Batch, Choice, Task};
use cleanest_core::noise::{Transition, corrupt};
use cleanest_core::random::Stream;

/// Three Gaussian classes: how often each occurs, its mean, and the correlation of its two coordinates.
pub(crate) struct Mixture {
    pub(crate) components: [(f64, [f64; 2], f64); 3],
}

impl Mixture {
    /// Classes so far apart that the true posteriors are one and zero.
    pub(crate) const SEPARATED: Self =
        Self { components: [(0.34, [6.0, 0.0], 0.0), (0.33, [-3.0, 5.2], 0.0), (0.33, [-3.0, -5.2], 0.0)] };

    /// The overlapping classes of the paper's overconfidence example.
    #[allow(dead_code)]
    pub(crate) const OVERLAPPING: Self =
        Self { components: [(0.4, [1.5, 0.0], 0.0), (0.3, [-2.0, 1.0], 0.5), (0.3, [-1.0, -2.0], -0.3)] };

    /// Features (1, x, y, x², xy, y²) in which the posteriors are a softmax of a linear map, and true labels.
    pub(crate) fn draw(&self, examples: usize, seed: u64) -> (Matrix, Vec<u32>) {
        let mut stream = Stream::new(seed, "mixture", 0);
        let priors = self.components.map(|component| component.0);
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..examples {
            let label = stream.weighted(&priors);
            let (_, [mx, my], correlation) = self.components[label];
            let (a, b) = (stream.normal(), stream.normal());
            let (x, y) = (mx + a, my + correlation * a + (1.0 - correlation * correlation).sqrt() * b);
            features.extend([1.0, x / 4.0, y / 4.0, x * x / 16.0, x * y / 16.0, y * y / 16.0]);
            labels.push(label as u32);
        }
        (Matrix::from_vec(6, features), labels)
    }
}

/// What a training run ended with.
pub(crate) struct Outcome {
    /// The noise as the method sees it, if it does.
    pub(crate) learnt: Option<Transition>,
    /// The noise as the classifier's posteriors and the labels imply it.
    pub(crate) implied: Transition,
    /// The share of right predictions of the true class.
    #[allow(dead_code)]
    pub(crate) accuracy: f64,
}

/// Trains a softmax-linear classifier on corrupted labels.
pub(crate) fn train(mixture: &Mixture, noise: &Transition, method: &Choice, seed: u64) -> Outcome {
    const EXAMPLES: usize = 6000;
    const STEPS: u64 = 3000;
    const BATCH: usize = 512;
    let (features, clean) = mixture.draw(EXAMPLES, seed);
    let labels = corrupt(&clean, noise, seed).unwrap().noisy;
    let mut method = method.build(&Task { classes: 3, steps: STEPS, seed }).unwrap();
    let (mut weights, mut gradient) = (Matrix::zeros(6, 3), Matrix::default());
    for step in 0..STEPS {
        let mut stream = Stream::new(seed, "batch", step);
        let rows: Vec<usize> = (0..BATCH).map(|_| stream.below(EXAMPLES)).collect();
        let inputs = Matrix::from_vec(6, rows.iter().flat_map(|&row| features.row(row)).copied().collect());
        let given: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
        let logits = inputs.product(&weights);
        let batch = Batch { logits: &logits, labels: &given, seed, step };
        method.loss(&batch, &mut gradient);
        let slopes = inputs.transposed().product(&gradient);
        let rate = 2.0 * (1.0 - step as f64 / STEPS as f64);
        weights
            .values_mut()
            .iter_mut()
            .zip(slopes.values())
            .for_each(|(weight, slope)| *weight -= rate * slope);
        method.update(&batch, &Alone);
    }
    let mut probabilities = features.product(&weights);
    for row in probabilities.iter_rows_mut() {
        let largest = row.iter().copied().fold(f64::MIN, f64::max);
        row.iter_mut().for_each(|p| *p = (*p - largest).exp());
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= sum);
    }
    let implied = frequencies(soft_confusion(&Posteriors::new(&probabilities, &labels).unwrap()));
    let accuracy = cleanest_core::stats::accuracy(&probabilities, &clean);
    Outcome { learnt: method.transition(), implied, accuracy }
}
