//! The optimizer's step over all parameters at once.

use super::{
    blueprint::Blueprint,
    command::{Argument, Launch, arguments},
    kernel::{Kernel, blocks},
    layout::Place,
    queue::Queue,
};
use crate::{
    Error,
    optimizer::{Adam, Optimizer, Sgd},
};

/// Moves the weights against their gradients. `steps` are those made with this one.
pub(super) fn step(
    queue: &Queue,
    blueprint: &Blueprint,
    optimizer: Optimizer,
    (rate, steps): (f64, u64),
) -> Result<(), Error> {
    for launch in launches(blueprint, optimizer, (rate, steps)) {
        queue.launch(&launch)?;
    }
    Ok(())
}

/// One launch for filters, whose gradients are stored numbers, and one for vectors.
fn launches(blueprint: &Blueprint, optimizer: Optimizer, (rate, steps): (f64, u64)) -> Vec<Launch> {
    let (store, lists) = (&blueprint.store, &blueprint.lists);
    let vectors = |place: Place| place.after(store.filters.length * size_of::<f32>());
    let copy = (lists.filters != lists.weights).then_some(lists.filters);
    let (filter_slopes, vector_slopes) = (lists.filter_slopes, lists.vector_slopes);
    let (filters, rest) = (store.filters.trained / 8, store.vectors.trained / 8);
    let weights = (lists.weights, vectors(lists.weights));
    let launch = |kernel: Kernel, eights: usize, arguments: &[Argument]| {
        (eights > 0).then(|| Launch { kernel, grid: blocks(eights), arguments: arguments.to_vec() })
    };
    let both = match (optimizer, &lists.memories[..]) {
        (Optimizer::Sgd(Sgd { momentum, weight_decay }), &[momenta]) => {
            let [rate, momentum, decay] = [rate, momentum, weight_decay].map(|number| number as f32);
            [
                launch(
                    Kernel::SgdFilters,
                    filters,
                    arguments![weights.0, momenta, filter_slopes, copy, filters, rate, momentum, decay],
                ),
                launch(
                    Kernel::SgdVectors,
                    rest,
                    arguments![weights.1, vectors(momenta), vector_slopes, rest, rate, momentum, decay],
                ),
            ]
        }
        (Optimizer::Adam(settings), &[means, squares]) => {
            let terms = Argument::Terms(terms(settings, rate, steps));
            [
                launch(
                    Kernel::AdamFilters,
                    filters,
                    arguments![weights.0, means, squares, filter_slopes, copy, filters, terms],
                ),
                launch(
                    Kernel::AdamVectors,
                    rest,
                    arguments![weights.1, vectors(means), vectors(squares), vector_slopes, rest, terms],
                ),
            ]
        }
        _ => unreachable!("an optimizer has its memories"),
    };
    both.into_iter().flatten().collect()
}

/// What Adam multiplies by and adds, computed in double precision as on the processor.
fn terms(settings: Adam, rate: f64, steps: u64) -> [f32; 7] {
    let Adam { beta1, beta2, epsilon, weight_decay } = settings;
    let count = i32::try_from(steps).unwrap_or(i32::MAX);
    let size = rate / (1.0 - beta1.powi(count));
    let root = 1.0 / (1.0 - beta2.powi(count)).sqrt();
    [size, root, 1.0 - beta1, beta2, 1.0 - beta2, epsilon, weight_decay].map(|number| number as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Model, ModelOptions, Shape,
        cuda::{Settings, kernel::tests::parameters},
    };

    #[test]
    fn both_optimizers_are_given_what_their_sources_ask_for() {
        let architecture = Model::Mlp.build(&ModelOptions::new(Shape::row(20), 3)).unwrap();
        for optimizer in [Optimizer::Adam(Adam::default()), Optimizer::Sgd(Sgd::default())] {
            let settings = Settings { batch: 2, optimizer, ..Settings::default() };
            let blueprint = Blueprint::new(&architecture, &settings).unwrap();
            let launches = launches(&blueprint, optimizer, (0.1, 1));
            assert_eq!(launches.len(), 2);
            for launch in launches {
                assert_eq!(launch.arguments.len(), parameters(launch.kernel).len(), "{:?}", launch.kernel);
            }
        }
    }
}
