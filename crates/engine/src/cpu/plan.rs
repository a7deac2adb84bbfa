//! From an architecture to operations and buffers: everything that is decided before the first batch.

use std::ops::Range;

use super::{
    Settings,
    activation::Sum,
    buffer::Buffer,
    convolve::{self, Convolve},
    dropout::Dropout,
    geometry::Geometry,
    normalize::{self, Normalize},
    operation::{Memory, Norm, Operation, Scratch},
    pool::{self, AveragePool, MaxPool, Windows},
    simd::Simd,
    store::{Bucket, Store},
};
use crate::{
    Error,
    architecture::{Architecture, Convolution, Layer, Shape, Window},
    plan::{
        fuse::{Fused, Fusion, fuse},
        gradients::{Route, Routes, route},
    },
};

/// Windows are numbered in a byte.
const LARGEST_POOL: usize = 15;

/// A planned network: what to do, and the memory to do it in.
pub(super) struct Plan {
    /// In the order they run forward, with whether they run backward.
    pub(super) operations: Vec<(Box<dyn Operation>, bool)>,
    pub(super) memory: Memory,
    pub(super) store: Store,
    /// The value the logits are.
    pub(super) output: usize,
    /// Where the gradient of the logits begins.
    pub(super) logits: usize,
    /// Where the gradient of the input ends, where it was asked for.
    pub(super) input_gradient: Option<usize>,
    /// The gradients in pieces as they become final.
    pub(super) buckets: Vec<Bucket>,
}

/// What the operations are built from.
struct Builder<'a, S> {
    simd: S,
    settings: &'a Settings,
    fusion: &'a Fusion<'a>,
    store: &'a Store,
}

/// Plans a network.
pub(super) fn plan<S: Simd>(
    simd: S,
    architecture: &Architecture,
    settings: &Settings,
) -> Result<Plan, Error> {
    let fusion = fuse(architecture)?;
    let store = Store::new(architecture, &fusion);
    let routes = route(&fusion, settings.input_gradient);
    let builder = Builder { simd, settings, fusion: &fusion, store: &store };
    let mut operations = Vec::new();
    for (fused, route) in fusion.operations.iter().zip(&routes.operations) {
        let backward = route.is_some();
        operations.push((builder.operation(fused, &route.clone().unwrap_or_default())?, backward));
    }
    let mut memory = allocate(&fusion, &routes, &store, settings.batch);
    memory.scratch = scratch(&operations);
    memory.norms = norms(&fusion, &operations);
    store.initialize(&mut memory, settings.seed);
    let (output, logits, input_gradient) = (fusion.output, routes.logits, routes.input);
    let buckets = store.buckets(&fusion);
    Ok(Plan { operations, memory, store, output, logits, input_gradient, buckets })
}

/// Every buffer but the scratch.
fn allocate(fusion: &Fusion<'_>, routes: &Routes, store: &Store, batch: usize) -> Memory {
    let mut memory = Memory {
        values: fusion.shapes.iter().map(|_| Buffer::default()).collect(),
        gradients: routes.sizes.iter().map(|size| Buffer::zeros(size * batch)).collect(),
        weights: Buffer::zeros(store.weights),
        slopes: Buffer::zeros(store.trained),
        statistics: Buffer::zeros(store.statistics),
        norms: Vec::new(),
        scratch: Scratch::default(),
        whole: None,
    };
    let outputs = fusion.operations.iter().map(|fused| fused.output);
    for value in outputs.chain([0]) {
        memory.values[value] = Buffer::zeros(batch * fusion.shapes[value].size());
    }
    memory
}

/// Scratch for the operation that needs most, in as many lanes as there are threads.
fn scratch(operations: &[(Box<dyn Operation>, bool)]) -> Scratch {
    let needs = || operations.iter().map(|(operation, _)| operation.need());
    let shared = needs().map(|need| need.shared).max().unwrap_or(0);
    let lane = needs().map(|need| need.lane).max().unwrap_or(0);
    let lanes = (0..rayon::current_num_threads()).map(|_| Buffer::zeros(lane)).collect();
    Scratch { shared: Buffer::zeros(shared), lanes }
}

/// What batch norms and convolutions tell each other, with room for the most pieces any of them sums in.
fn norms(fusion: &Fusion<'_>, operations: &[(Box<dyn Operation>, bool)]) -> Vec<Norm> {
    let sums: Vec<_> = operations.iter().filter_map(|(operation, _)| operation.sums_for()).collect();
    let norms = fusion.operations.iter().filter(|fused| fused.norm.is_some());
    norms
        .enumerate()
        .map(|(index, fused)| {
            let pieces = sums.iter().filter(|(norm, _)| *norm == index).map(|(_, pieces)| *pieces).max();
            Norm::new(fusion.shapes[fused.input].channels, pieces.unwrap_or(0))
        })
        .collect()
}

impl<S: Simd> Builder<'_, S> {
    /// The first batch norm that reads what an operation puts out, and its running mean.
    fn observer(&self, fused: &Fused<'_>) -> Option<(usize, Range<usize>)> {
        let reads = |reader: &&Fused<'_>| reader.input == fused.output && reader.norm.is_some();
        let reader = self.fusion.operations.iter().find(reads)?;
        Some((reader.norm?, self.store.range(&reader.node.name, "running_mean")?))
    }

    /// Whether a batch norm is the observer of a convolution.
    fn observed(&self, norm: &Fused<'_>) -> bool {
        let product = |fused: &&Fused<'_>| fused.output == norm.input && fused.is_product();
        let producer = self.fusion.operations.iter().find(product);
        producer.and_then(|fused| self.observer(fused)).is_some_and(|(first, _)| Some(first) == norm.norm)
    }

    fn operation(&self, fused: &Fused<'_>, route: &Route) -> Result<Box<dyn Operation>, Error> {
        Ok(match fused.node.layer {
            Layer::Convolution(settings) => self.product(fused, route, Some(settings)),
            Layer::Linear { .. } => self.product(fused, route, None),
            Layer::BatchNorm => self.normalize(fused, route),
            Layer::Relu | Layer::Add => self.sum(fused, route),
            Layer::MaxPool(window) if window.kernel > LARGEST_POOL => {
                let expected = format!("a window of at most {LARGEST_POOL}x{LARGEST_POOL} pixels");
                return Err(Error::layer(&fused.node.name, expected, self.fusion.shapes[fused.input]));
            }
            Layer::MaxPool(window) => {
                let windows = self.windows(fused, Some(window));
                Box::new(MaxPool::new(self.simd, windows, links(fused, route), self.settings.batch))
            }
            Layer::AveragePool(window) => self.average(fused, route, Some(window)),
            Layer::GlobalAveragePool => self.average(fused, route, None),
            Layer::Dropout { rate } => self.dropout(fused, route, rate),
            Layer::Flatten => unreachable!("a flatten is no operation"),
        })
    }

    /// A convolution, or a linear layer: an image of one pixel that has everything for channels.
    fn product(&self, fused: &Fused<'_>, route: &Route, settings: Option<Convolution>) -> Box<dyn Operation> {
        let (input, output) = (self.fusion.shapes[fused.input], self.fusion.shapes[fused.output]);
        let geometry = match settings {
            Some(Convolution { kernel, stride, padding, .. }) => {
                Geometry { input, output, kernel: (kernel, kernel), stride, padding }
            }
            None => {
                Geometry { input: Shape::row(input.size()), output, kernel: (1, 1), stride: 1, padding: 0 }
            }
        };
        let name = &fused.node.name;
        let links = convolve::Links {
            input: fused.input,
            output: fused.output,
            weight: self.store.range(name, "weight").unwrap_or_default(),
            bias: self.store.range(name, "bias"),
            relu: fused.relu,
            observer: self.observer(fused),
            finished: route.finished,
            gradient: route.gradient,
            inflow: route.inflow,
        };
        Box::new(Convolve::new(self.simd, geometry, self.settings.batch, self.settings.convolution, links))
    }

    fn normalize(&self, fused: &Fused<'_>, route: &Route) -> Box<dyn Operation> {
        let shape = self.fusion.shapes[fused.input];
        let range = |what| self.store.range(&fused.node.name, what).unwrap_or_default();
        let links = normalize::Links {
            input: fused.input,
            residual: fused.residual,
            output: fused.output,
            relu: fused.relu,
            norm: fused.norm.unwrap_or_default(),
            observed: self.observed(fused),
            finished: route.finished,
            scale: range("weight"),
            shift: range("bias"),
            running: ["running_mean", "running_var", "num_batches_tracked"].map(range),
            gradient: route.gradient,
            inflow: route.inflow,
            residual_inflow: route.residual,
        };
        let size = (shape.channels, shape.height * shape.width);
        Box::new(Normalize::new(self.simd, size, self.settings.batch, links))
    }

    fn sum(&self, fused: &Fused<'_>, route: &Route) -> Box<dyn Operation> {
        Box::new(Sum {
            simd: self.simd,
            inputs: (fused.input, fused.residual),
            output: fused.output,
            relu: fused.relu,
            finished: route.finished,
            size: self.fusion.shapes[fused.output].size(),
            gradient: route.gradient,
            inflows: [route.residual, route.inflow].into_iter().flatten().collect(),
        })
    }

    fn average(&self, fused: &Fused<'_>, route: &Route, window: Option<Window>) -> Box<dyn Operation> {
        let windows = self.windows(fused, window);
        Box::new(AveragePool { simd: self.simd, windows, links: links(fused, route) })
    }

    /// The window of a pool, or one that covers the image.
    fn windows(&self, fused: &Fused<'_>, window: Option<Window>) -> Windows {
        let (input, output) = (self.fusion.shapes[fused.input], self.fusion.shapes[fused.output]);
        match window {
            Some(Window { kernel, stride, padding }) => {
                Windows { input, output, kernel: (kernel, kernel), stride, padding }
            }
            None => Windows { input, output, kernel: (input.height, input.width), stride: 1, padding: 0 },
        }
    }

    fn dropout(&self, fused: &Fused<'_>, route: &Route, rate: f64) -> Box<dyn Operation> {
        let size = self.fusion.shapes[fused.output].size();
        Box::new(Dropout {
            rate,
            seed: self.settings.seed,
            stream: format!("dropout/{}", fused.node.name),
            input: fused.input,
            output: fused.output,
            size,
            gradient: route.gradient,
            inflow: route.inflow,
            factors: Buffer::zeros(size * self.settings.batch),
        })
    }
}

fn links(fused: &Fused<'_>, route: &Route) -> pool::Links {
    pool::Links { input: fused.input, output: fused.output, gradient: route.gradient, inflow: route.inflow }
}
