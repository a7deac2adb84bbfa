//! From an architecture to operations and places: everything that is decided before there is a GPU.

use std::ops::Range;

use super::{
    Settings,
    command::{Commands, arguments},
    drawing::Drawing,
    intake::Intake,
    kernel::{Kernel, blocks},
    layout::{Layout, Place, padded},
    operations::{Operation, Pass},
    store::Store,
};
use crate::{
    Error, Mode,
    architecture::{Architecture, Shape},
    plan::{
        fuse::{Fusion, fuse},
        gradients::route,
    },
};

/// Where the lists of the store lie.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    /// Filters and then vectors in single precision: the master weights.
    pub(super) weights: Place,
    /// Filters as convolutions take them; the master weights themselves in single precision.
    pub(super) filters: Place,
    /// Gradients of filters, as numbers are stored.
    pub(super) filter_slopes: Place,
    /// Gradients of vectors, in single precision.
    pub(super) vector_slopes: Place,
    /// What the optimizer remembers, each as long as the weights.
    pub(super) memories: Vec<Place>,
    pub(super) statistics: Place,
}

/// A planned network: what to do, and where everything lies.
#[derive(Debug)]
pub(super) struct Blueprint {
    /// In the order they run forward, with whether they run backward and whether evaluation needs them.
    operations: Vec<(Box<dyn Operation>, bool, bool)>,
    pub(super) store: Store,
    pub(super) lists: Lists,
    /// The shape of an example and of its logits, not padded.
    pub(super) shape: Shape,
    pub(super) output: Shape,
    /// How the batch is read, and where it goes in.
    pub(super) intake: Intake,
    pub(super) input: Place,
    /// Steps, rows and crops of a batch. Training uses the first, where dropout finds the step; evaluation takes turns.
    pub(super) orders: [Place; 2],
    /// What the examples are of the batch of all workers: how many come before them, how many they are, how many all are.
    pub(super) part: Place,
    /// Whether batch norms see that batch.
    pub(super) whole_norms: bool,
    /// The gradients of filters that each operation computes.
    filters: Vec<Range<usize>>,
    /// The value the logits are, if their layer has not brought them to the host's layout itself.
    exported: Option<Place>,
    /// Logits and their gradient in the host's layout, single precision.
    pub(super) logits: Place,
    pub(super) gradient: Place,
    /// Where the gradient of the logits begins its way.
    first_gradient: Place,
    /// Where the gradient of the input ends, where it was asked for.
    pub(super) input_gradient: Option<Place>,
    /// Bytes of all places.
    pub(super) bytes: usize,
}

impl Blueprint {
    /// Plans an architecture.
    pub(super) fn new(architecture: &Architecture, settings: &Settings) -> Result<Self, Error> {
        let fusion = fuse(architecture)?;
        let intake = Intake::new(&fusion, settings.input_gradient);
        let store = Store::new(architecture, &fusion, intake.patched.as_deref());
        let mut layout = Layout::default();
        let lists = lists(&store, settings, &mut layout);
        let wide = widened(&fusion, &intake);
        let routes = route(&wide, settings.input_gradient);
        let mut drawing =
            Drawing::new((&fusion, &wide, &intake), &routes, settings, (&store, &lists), &mut layout);
        let (mut operations, mut filters) = (Vec::new(), Vec::new());
        for (fused, route) in fusion.operations.iter().zip(&routes.operations) {
            let operation = drawing.operation(fused, route.as_ref())?;
            operations.push((operation, route.is_some(), fused.alive));
            filters.push(store.filter(&fused.node.name).filter(|_| route.is_some()).unwrap_or_default());
        }
        let Drawing { values, slots, logits, exported, orders, part, .. } = drawing;
        let (shape, output) = (architecture.input_shape(), fusion.shapes[fusion.output]);
        let gradient = layout.take(settings.batch * output.size() * size_of::<f32>());
        Ok(Self {
            operations,
            store,
            lists,
            shape,
            output,
            intake,
            input: values[0],
            orders,
            part,
            whole_norms: false,
            filters,
            exported: exported.then(|| values[fusion.output]),
            logits,
            gradient,
            first_gradient: slots[routes.logits],
            input_gradient: routes.input.map(|slot| slots[slot]),
            bytes: layout.bytes(),
        })
    }

    fn commands(&self) -> Commands {
        Commands { whole_norms: self.whole_norms, ..Commands::default() }
    }

    /// What a pass forward asks the GPU to do.
    pub(super) fn forward(&self, pass: Pass) -> Commands {
        let mut commands = self.commands();
        for (operation, _, alive) in &self.operations {
            if *alive || pass.mode == Mode::Train {
                operation.forward(pass, &mut commands);
            }
        }
        if let Some(value) = self.exported {
            unpad(value, self.logits, pass.batch, self.output, &mut commands);
        }
        commands
    }

    /// What the pass backward does.
    #[cfg(test)]
    fn backward(&self, batch: usize) -> Commands {
        let mut pieces = self.backward_pieces(batch, 1);
        pieces.pop().unwrap_or_default().0
    }

    /// What the pass backward does, in at most so many pieces, each with the gradients of filters that are final after it.
    pub(super) fn backward_pieces(&self, batch: usize, pieces: usize) -> Vec<(Commands, Range<usize>)> {
        let mut all: Vec<(Commands, Range<usize>)> = Vec::new();
        let mut end = self.store.filters.trained;
        let enough = end.div_ceil(pieces);
        let mut commands = self.gradient_in(batch);
        let last = self.operations.iter().position(|(_, backward, _)| *backward).unwrap_or(0);
        for (index, (operation, backward, _)) in self.operations.iter().enumerate().rev() {
            if !*backward {
                continue;
            }
            operation.backward(batch, &mut commands);
            let start = if index == last { 0 } else { self.filters[index].start };
            // Only where everything from here to the end is final: filters lie in the order of the operations.
            let later = self.filters[..index].iter().all(|filter| filter.end <= start || filter.is_empty());
            let full = !self.filters[index].is_empty() && end - start.min(end) >= enough && later;
            if index == last || full {
                all.push((std::mem::replace(&mut commands, self.commands()), start..end));
                end = start;
            }
        }
        all
    }

    /// Brings the gradient of the logits to where it begins its way.
    fn gradient_in(&self, batch: usize) -> Commands {
        let mut commands = self.commands();
        let Shape { height, width, channels } = self.output;
        let (pixels, wide) = (batch * height * width, padded(channels));
        commands.launch(
            Kernel::Pad,
            blocks(pixels * wide / 8),
            arguments![self.gradient, self.first_gradient, pixels, channels, wide],
        );
        commands
    }
}

/// Brings a value into the host's layout.
pub(super) fn unpad(from: Place, to: Place, batch: usize, shape: Shape, commands: &mut Commands) {
    let pixels = batch * shape.height * shape.width;
    let arguments = arguments![from, to, pixels, shape.channels, padded(shape.channels)];
    commands.launch(Kernel::Unpad, blocks(pixels * shape.channels), arguments);
}

/// The same with channels padded, which is what memory is planned for.
fn widened<'a>(fusion: &Fusion<'a>, intake: &Intake) -> Fusion<'a> {
    let wide = |shape: &Shape| Shape { channels: padded(shape.channels), ..*shape };
    let mut shapes: Vec<Shape> = fusion.shapes.iter().map(wide).collect();
    shapes[0] = intake.shape();
    Fusion { shapes, ..fusion.clone() }
}

/// Places for the parameters and what belongs to them.
fn lists(store: &Store, settings: &Settings, layout: &mut Layout) -> Lists {
    let (number, single) = (settings.precision.bytes(), size_of::<f32>());
    let weights = layout.take(store.weights() * single);
    let filters = if number == single { weights } else { layout.take(store.filters.length * number) };
    let memories =
        settings.optimizer.memories().iter().map(|_| layout.take(store.weights() * single)).collect();
    Lists {
        weights,
        filters,
        filter_slopes: layout.take(store.filters.length * number),
        vector_slopes: layout.take(store.vectors.length * single),
        memories,
        statistics: layout.take(store.statistics * single),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Model, ModelOptions,
        cuda::{
            Precision,
            command::{Argument, Command},
            kernel::tests::parameters,
        },
    };

    fn blueprint(model: Model, batch: usize, precision: Precision) -> Blueprint {
        let input = if model == Model::MnistCnn { Shape::image(28, 28, 1) } else { Shape::image(32, 32, 3) };
        let architecture = model.build(&ModelOptions::new(input, 10)).unwrap();
        let settings = Settings { batch, precision, input_gradient: true, ..Settings::default() };
        Blueprint::new(&architecture, &settings).unwrap()
    }

    /// Whether an argument can stand where the sources have this type.
    fn fits(argument: Argument, kind: &str) -> bool {
        match argument {
            Argument::At(_) | Argument::Address(_) | Argument::Nothing => kind.ends_with('*'),
            Argument::Count(_) => kind == "u32",
            Argument::Number(_) => kind == "float",
            Argument::Words(_) => kind == "uint4",
            Argument::Window(_) => kind == "Window",
            Argument::Terms(_) => kind == "AdamTerms",
        }
    }

    #[test]
    fn every_kernel_of_every_plan_is_given_what_its_source_asks_for() {
        for (&model, whole_norms) in Model::ALL.iter().flat_map(|model| [(model, false), (model, true)]) {
            let blueprint = Blueprint { whole_norms, ..blueprint(model, 4, Precision::Bf16) };
            let passes = [Mode::Train, Mode::Evaluate].map(|mode| blueprint.forward(Pass { batch: 3, mode }));
            for commands in passes.iter().chain([&blueprint.backward(3)]) {
                for command in &commands.list {
                    let Command::Launch(launch) = command else { continue };
                    let kinds = parameters(launch.kernel);
                    assert_eq!(launch.arguments.len(), kinds.len(), "{:?}", launch.kernel);
                    for (argument, kind) in launch.arguments.iter().zip(&kinds) {
                        assert!(fits(*argument, kind), "{:?}: {argument:?} is no {kind}", launch.kernel);
                    }
                }
            }
        }
    }

    #[test]
    fn the_pieces_of_a_backward_pass_are_the_whole_and_cover_all_filters() {
        for &model in Model::ALL {
            let blueprint = blueprint(model, 4, Precision::Bf16);
            let whole = blueprint.backward(4).list.len();
            for wanted in [1, 2, 4] {
                let pieces = blueprint.backward_pieces(4, wanted);
                assert!(!pieces.is_empty() && pieces.len() <= wanted, "{model}: {}", pieces.len());
                assert_eq!(pieces.iter().map(|(commands, _)| commands.list.len()).sum::<usize>(), whole);
                assert_eq!(pieces[0].1.end, blueprint.store.filters.trained);
                assert!(pieces.windows(2).all(|pair| pair[0].1.start == pair[1].1.end), "{model}");
                assert_eq!(pieces[pieces.len() - 1].1.start, 0);
            }
            if model == Model::Resnet18 {
                // The first piece ends where a quarter is passed, and the last two layers are two thirds.
                assert_eq!(blueprint.backward_pieces(4, 4).len(), 3);
            }
        }
    }

    #[test]
    fn every_place_of_every_plan_lies_within_its_bytes() {
        for (&model, whole_norms) in Model::ALL.iter().flat_map(|model| [(model, false), (model, true)]) {
            let blueprint = Blueprint { whole_norms, ..blueprint(model, 4, Precision::Tf32) };
            let inside = |place: Place| assert!(place.address(0) < blueprint.bytes as u64);
            let forward = blueprint.forward(Pass { batch: 4, mode: Mode::Train });
            for command in forward.list.iter().chain(&blueprint.backward(4).list) {
                match command {
                    Command::Launch(launch) => launch.arguments.iter().for_each(|argument| {
                        if let Argument::At(place) = argument {
                            inside(*place);
                        }
                    }),
                    Command::Convolve(c) => [c.input, c.filter, c.output].into_iter().for_each(inside),
                    Command::Multiply(m) => [m.a.at, m.b.at, m.c].into_iter().for_each(inside),
                    Command::Exchange(e) => [e.at, e.at.after(8 * e.count - 1)].into_iter().for_each(inside),
                }
            }
        }
    }

    #[test]
    fn a_larger_batch_takes_more_memory_and_bf16_less() {
        let bytes = |batch, precision| blueprint(Model::Resnet18, batch, precision).bytes;
        assert!(bytes(64, Precision::Bf16) > bytes(32, Precision::Bf16));
        assert!(bytes(64, Precision::Bf16) < bytes(64, Precision::F32));
        assert_eq!(bytes(64, Precision::Tf32), bytes(64, Precision::F32));
    }

    #[test]
    fn a_residual_block_passes_over_its_norms_twice_each_way() {
        let blueprint = blueprint(Model::Resnet18, 2, Precision::Bf16);
        let count = |commands: &Commands, kernel: Kernel| {
            commands.list.iter().filter(|c| matches!(c, Command::Launch(l) if l.kernel == kernel)).count()
        };
        let forward = blueprint.forward(Pass { batch: 2, mode: Mode::Train });
        assert_eq!(count(&forward, Kernel::NormalizeObserve), 20);
        assert_eq!(count(&forward, Kernel::NormalizeApply), 20);
        assert_eq!(count(&forward, Kernel::Sum), 0, "sums and ReLUs are part of the norms");
        let backward = blueprint.backward(2);
        assert_eq!(count(&backward, Kernel::NormalizeReduce), 20);
        assert_eq!(count(&backward, Kernel::NormalizeSpread), 20);
        assert_eq!(count(&backward, Kernel::Deliver), 0, "no gradient is copied");
    }

    #[test]
    fn norms_of_the_whole_batch_are_exchanged_once_each_way_and_only_in_training() {
        let blueprint = Blueprint { whole_norms: true, ..blueprint(Model::Resnet18, 2, Precision::Bf16) };
        let exchanges = |commands: &Commands| {
            commands.list.iter().filter(|command| matches!(command, Command::Exchange(_))).count()
        };
        assert_eq!(exchanges(&blueprint.forward(Pass { batch: 2, mode: Mode::Train })), 20);
        assert_eq!(exchanges(&blueprint.forward(Pass { batch: 2, mode: Mode::Evaluate })), 0);
        assert_eq!(exchanges(&blueprint.backward(2)), 20);
    }
}
