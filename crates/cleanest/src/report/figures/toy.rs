//! The paper's toy: three Gaussians in the plane, whose posteriors are known, and a small network trained on them.
//!
//! 600 points, components with shares 0.4, 0.3, 0.3; a perceptron with two hidden layers of 32, Adam, batches of 64,
//! 30 epochs of cross-entropy. The means, correlations and the noise are those of the authors' code.

use crate::Error;
use cleanest_core::Matrix;
use cleanest_core::estimate::{Anchors, Posteriors, anchors};
use cleanest_core::methods::maths::Softmax;
use cleanest_core::methods::{Batch, Choice, Task};
use cleanest_core::noise::{Transition, corrupt};
use cleanest_core::random::Stream;
use cleanest_engine::cpu;
use cleanest_engine::{Input, Mode, Model, ModelOptions, Optimizer, Shape};

const POINTS: usize = 600;
const BATCH: usize = 64;
const EPOCHS: u64 = 30;
const RATE: f64 = 1e-3;
const SHARES: [f64; 3] = [0.4, 0.3, 0.3];
const MEANS: [[f64; 2]; 3] = [[1.5, 0.0], [-2.0, 1.0], [-1.0, -2.0]];
const CORRELATIONS: [f64; 3] = [0.0, 0.5, -0.3];
/// The noise is the product of these two.
const FIRST: [[f64; 3]; 3] = [[0.70, 0.25, 0.05], [0.15, 0.60, 0.25], [0.05, 0.15, 0.80]];
const SECOND: [[f64; 3]; 3] = [[0.90, 0.05, 0.05], [0.15, 0.80, 0.05], [0.00, 0.10, 0.90]];

/// Distributions over three classes.
pub(super) type Rows = Vec<[f64; 3]>;

/// What is true and what a network says, of clean and of noisy labels.
pub(super) struct Toy {
    /// The component each point was drawn from.
    pub(super) classes: Vec<u32>,
    /// p(class | x), by Bayes and by a network trained on the classes.
    pub(super) clean: [Rows; 2],
    /// p(noisy label | x), by Bayes and by a network trained on noisy labels.
    pub(super) noisy: [Rows; 2],
    /// The noise.
    pub(super) truth: Transition,
    /// The noise as the anchor points of the network trained on noisy labels have it.
    pub(super) estimated: Transition,
}

impl Toy {
    /// Draws the points, spoils their labels, trains twice.
    pub(super) fn new(seed: u64) -> Result<Self, Error> {
        let (points, classes) = drawn(seed);
        let truth = noise()?;
        let labels = corrupt(&classes, &truth, seed)?.noisy;
        let clean: Rows = points.iter().map(posterior).collect();
        let through = |p: &[f64; 3]| {
            [0, 1, 2].map(|label| (0..3).map(|class| p[class] * truth.matrix()[(class, label)]).sum())
        };
        let noisy: Rows = clean.iter().map(through).collect();
        let of_classes = trained(&points, &classes, seed)?;
        let of_labels = trained(&points, &labels, seed)?;
        let estimated = anchors(&Posteriors::new(&of_labels, &labels)?, Anchors::Argmax)?;
        let clean = [clean, rows(&of_classes)];
        Ok(Self { classes, clean, noisy: [noisy, rows(&of_labels)], truth, estimated })
    }
}

fn noise() -> Result<Transition, Error> {
    let entry =
        |row: usize, column: usize| (0..3).map(|inner| FIRST[row][inner] * SECOND[inner][column]).sum();
    Ok(Transition::new(Matrix::from_fn(3, 3, entry))?)
}

fn drawn(seed: u64) -> (Vec<[f64; 2]>, Vec<u32>) {
    let mut stream = Stream::new(seed, "toy", 0);
    let mut point = || {
        let class = stream.weighted(&SHARES);
        let (a, b, r) = (stream.normal(), stream.normal(), CORRELATIONS[class]);
        let [x, y] = MEANS[class];
        ([x + a, y + r * a + (1.0 - r * r).sqrt() * b], class as u32)
    };
    (0..POINTS).map(|_| point()).unzip()
}

/// p(class | x) by Bayes.
fn posterior(&[x, y]: &[f64; 2]) -> [f64; 3] {
    let joint = [0, 1, 2].map(|class| {
        let (dx, dy, r) = (x - MEANS[class][0], y - MEANS[class][1], CORRELATIONS[class]);
        let rest = 1.0 - r * r;
        SHARES[class] / rest.sqrt() * (-(dx * dx - 2.0 * r * dx * dy + dy * dy) / (2.0 * rest)).exp()
    });
    let whole: f64 = joint.iter().sum();
    joint.map(|part| part / whole)
}

/// What a network says of the points it was trained on.
fn trained(points: &[[f64; 2]], labels: &[u32], seed: u64) -> Result<Matrix, Error> {
    let mut options = ModelOptions::new(Shape::row(2), 3);
    options.hidden = vec![32, 32];
    let settings =
        cpu::Settings { batch: BATCH, seed, optimizer: Optimizer::default(), ..cpu::Settings::default() };
    let mut network = cpu::network(&Model::Mlp.build(&options)?, &settings)?;
    let steps = EPOCHS * POINTS.div_ceil(BATCH) as u64;
    let mut method = Choice::named("cce")?.build(&Task { classes: 3, steps, seed })?;
    let values =
        |rows: &[usize]| rows.iter().flat_map(|&row| points[row].map(|value| value as f32)).collect();
    let wide = |logits: &cleanest_engine::Matrix| {
        Matrix::from_vec(3, logits.values().iter().map(|&logit| f64::from(logit)).collect())
    };
    let (mut gradient, mut slopes, mut step) = (Matrix::default(), cleanest_engine::Matrix::default(), 0);
    for epoch in 0..EPOCHS {
        let mut order: Vec<usize> = (0..POINTS).collect();
        Stream::new(seed, "toy-order", epoch).shuffle(&mut order);
        for rows in order.chunks(BATCH) {
            let inputs: Vec<f32> = values(rows);
            let logits = wide(network.forward(&Input::Rows(&inputs), Mode::Train)?);
            let labels: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
            method.loss(&Batch { logits: &logits, labels: &labels, seed, step }, &mut gradient);
            slopes.resize(gradient.rows(), gradient.columns());
            slopes.values_mut().iter_mut().zip(gradient.values()).for_each(|(to, &from)| *to = from as f32);
            network.backward(&slopes)?;
            network.step(RATE)?;
            step += 1;
        }
    }
    let inputs: Vec<f32> = values(&(0..POINTS).collect::<Vec<_>>());
    let logits = wide(network.forward(&Input::Rows(&inputs), Mode::Evaluate)?);
    let mut softmax = Softmax::default();
    softmax.of(&logits);
    Ok(softmax.probabilities().clone())
}

fn rows(matrix: &Matrix) -> Rows {
    matrix.iter_rows().map(|row| [row[0], row[1], row[2]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product as the authors' code has it, worked out by hand.
    #[test]
    fn the_noise_is_the_product_of_its_two_parts() {
        let expected = [[0.6675, 0.2400, 0.0925], [0.2250, 0.5125, 0.2625], [0.0675, 0.2025, 0.7300]];
        let found = noise().unwrap();
        for (row, expected) in expected.iter().enumerate() {
            found.row(row).iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn a_network_of_noisy_labels_is_surer_of_them_than_the_truth_allows() {
        let toy = Toy::new(2020).unwrap();
        let entropy = |rows: &Rows| -> f64 {
            let of =
                |p: &[f64; 3]| -> f64 { p.iter().map(|&p| if p > 0.0 { -p * p.ln() } else { 0.0 }).sum() };
            rows.iter().map(of).sum::<f64>() / rows.len() as f64
        };
        assert!(entropy(&toy.noisy[0]) > entropy(&toy.clean[0]), "noise adds entropy");
        // The posteriors of noisy labels lie within the triangle of T: no label is surer than the surest of T.
        let most = |rows: &Rows| rows.iter().flatten().copied().fold(0.0, f64::max);
        assert!(most(&toy.noisy[0]) <= 0.73 + 1e-12);
        assert!(most(&toy.noisy[1]) > 0.73, "the network goes beyond it");
    }
}
