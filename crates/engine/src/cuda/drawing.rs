//! The operations of a plan, each with its places.

use super::{
    Settings,
    blueprint::Lists,
    command::Geometry,
    intake::Intake,
    kernel::Walk,
    layout::{Layout, Place},
    operations::{
        AveragePool, Convolution, Dropout, Flow, Linear, Links, MaxPool, Norm, Operation, Sum, Sums, Trained,
        Windows,
    },
    store::{Kind, Store},
};
use crate::{
    Error,
    architecture::{self, Layer, Shape, Window},
    plan::{
        Inflow,
        fuse::{Fused, Fusion},
        gradients::{Route, Routes},
    },
};

/// Windows are numbered in a byte.
const LARGEST_POOL: usize = 15;

/// What operations are drawn with.
pub(super) struct Drawing<'a> {
    fusion: &'a Fusion<'a>,
    intake: &'a Intake,
    /// Shapes with channels padded.
    shapes: &'a [Shape],
    settings: &'a Settings,
    store: &'a Store,
    lists: &'a Lists,
    layout: &'a mut Layout,
    pub(super) values: Vec<Place>,
    pub(super) slots: Vec<Place>,
    sums: Sums,
    pub(super) logits: Place,
    /// Whether the logits have still to be brought into the host's layout.
    pub(super) exported: bool,
    pub(super) orders: [Place; 2],
    /// What these examples are of the batch of all workers.
    pub(super) part: Place,
}

impl<'a> Drawing<'a> {
    /// Gives a place to everything that flows; `wide` is the fusion with channels padded.
    pub(super) fn new(
        (fusion, wide, intake): (&'a Fusion<'a>, &'a Fusion<'a>, &'a Intake),
        routes: &Routes,
        settings: &'a Settings,
        (store, lists): (&'a Store, &'a Lists),
        layout: &'a mut Layout,
    ) -> Self {
        let (batch, number, single) = (settings.batch, settings.precision.bytes(), size_of::<f32>());
        let logits = layout.take(batch * fusion.shapes[fusion.output].size() * single);
        let orders = [(); 2].map(|()| layout.take((2 + 2 * batch) * size_of::<u32>()));
        let part = layout.take(3 * size_of::<u32>());
        let mut used = vec![false; wide.shapes.len()];
        fusion.operations.iter().map(|fused| fused.output).chain([0]).for_each(|value| used[value] = true);
        let mut place = |(value, shape): (usize, &Shape)| {
            // Logits are written in single precision.
            let bytes = if value == fusion.output { single } else { number };
            layout.take(if used[value] { batch * shape.size() * bytes } else { 0 })
        };
        let values = wide.shapes.iter().enumerate().map(&mut place).collect();
        let slots = routes.sizes.iter().map(|size| layout.take(batch * size * number)).collect();
        let walks =
            || wide.shapes.iter().map(|shape| Walk::new(batch * shape.height * shape.width, shape.channels));
        let most = |bytes: &dyn Fn(Walk) -> usize| walks().map(bytes).max().unwrap_or(0);
        let partials = layout.take(most(&Walk::partials));
        let arrived = layout.take(most(&Walk::arrived));
        let widest = wide.shapes.iter().map(|shape| shape.channels).max().unwrap_or(0);
        let sums = Sums { partials, arrived, whole: layout.take(2 * widest * size_of::<f64>()) };
        Self {
            fusion,
            intake,
            shapes: &wide.shapes,
            settings,
            store,
            lists,
            layout,
            values,
            slots,
            sums,
            logits,
            exported: true,
            orders,
            part,
        }
    }

    /// The operation of some fused layers.
    pub(super) fn operation(
        &mut self,
        fused: &Fused<'_>,
        route: Option<&Route>,
    ) -> Result<Box<dyn Operation>, Error> {
        let route = route.cloned().unwrap_or_default();
        let links = Links {
            input: self.values[fused.input],
            output: self.values[fused.output],
            gradient: self.slots[route.gradient],
            inflow: route.inflow.map(|inflow| self.flow(inflow)),
        };
        let windows = |window: Option<Window>| self.windows(fused, window);
        Ok(match fused.node.layer {
            Layer::Convolution(settings) => Box::new(self.convolution(fused, settings, links)),
            Layer::Linear { .. } => Box::new(self.linear(fused, links)),
            Layer::BatchNorm => Box::new(self.norm(fused, &route, links)),
            Layer::Relu | Layer::Add => Box::new(Sum {
                size: self.shapes[fused.output].size(),
                links,
                other: fused.residual.map(|value| self.values[value]),
                other_inflow: route.residual.map(|inflow| self.flow(inflow)),
                relu: fused.relu,
            }),
            Layer::MaxPool(window) if window.kernel > LARGEST_POOL => {
                let expected = format!("a window of at most {LARGEST_POOL}x{LARGEST_POOL} pixels");
                return Err(Error::layer(&fused.node.name, expected, self.fusion.shapes[fused.input]));
            }
            Layer::MaxPool(window) => {
                let windows = windows(Some(window));
                let taps = self.layout.take(self.settings.batch * windows.output.size());
                Box::new(MaxPool { windows, links, taps })
            }
            Layer::AveragePool(window) => Box::new(AveragePool { windows: windows(Some(window)), links }),
            Layer::GlobalAveragePool => Box::new(AveragePool { windows: windows(None), links }),
            Layer::Dropout { rate } => Box::new(Dropout {
                rate,
                seed: self.settings.seed,
                stream: format!("dropout/{}", fused.node.name),
                shape: self.fusion.shapes[fused.output],
                links,
                step: self.orders[0],
                part: self.part,
            }),
            Layer::Flatten => unreachable!("a flatten is no operation"),
        })
    }

    fn flow(&self, inflow: Inflow) -> Flow {
        Flow { to: self.slots[inflow.slot], add: inflow.add }
    }

    /// The place of a parameter in a list of the weights, and of its gradient.
    fn trained(&self, layer: &str, what: &str) -> Option<Trained> {
        let (single, number) = (size_of::<f32>(), self.settings.precision.bytes());
        let vectors = self.lists.weights.after(self.store.filters.length * single);
        Some(match self.store.find(layer, what)? {
            (Kind::Filter, start) => Trained {
                value: self.lists.filters.after(start * number),
                slope: self.lists.filter_slopes.after(start * number),
            },
            (Kind::Vector, start) => Trained {
                value: vectors.after(start * single),
                slope: self.lists.vector_slopes.after(start * single),
            },
            (Kind::Statistic, start) => {
                let value = self.lists.statistics.after(start * single);
                Trained { value, slope: value }
            }
        })
    }

    /// A parameter that the layer is known to have.
    fn own(&self, fused: &Fused<'_>, what: &str) -> Trained {
        self.trained(&fused.node.name, what).unwrap_or_else(|| unreachable!("a layer has its parameters"))
    }

    fn convolution(
        &self,
        fused: &Fused<'_>,
        settings: architecture::Convolution,
        links: Links,
    ) -> Convolution {
        let (input, output) = (self.shapes[fused.input], self.shapes[fused.output]);
        let window = (settings.kernel, settings.stride, settings.padding);
        let patched = self.intake.patched.as_ref() == Some(&fused.node.name);
        let (kernel, stride, padding) = if patched { (1, 1, 0) } else { window };
        let geometry = Geometry {
            batch: 1,
            height: input.height,
            width: input.width,
            inputs: input.channels,
            outputs: output.channels,
            kernel,
            stride,
            padding,
        };
        let bias = self.trained(&fused.node.name, "bias");
        Convolution {
            geometry,
            links,
            filter: self.own(fused, "weight"),
            bias,
            relu: fused.relu,
            sums: self.sums,
        }
    }

    fn linear(&mut self, fused: &Fused<'_>, links: Links) -> Linear {
        let classes = self.fusion.shapes[fused.output].size();
        let last = fused.output == self.fusion.output && !fused.relu;
        self.exported &= !last;
        Linear {
            inputs: self.shapes[fused.input].size(),
            outputs: self.shapes[fused.output].size(),
            links,
            filter: self.own(fused, "weight"),
            bias: self.own(fused, "bias"),
            relu: fused.relu,
            sums: self.sums,
            logits: last.then_some((self.logits, classes)),
        }
    }

    fn norm(&mut self, fused: &Fused<'_>, route: &Route, links: Links) -> Norm {
        let shape = self.shapes[fused.input];
        let stored = fused.relu && fused.residual.is_some();
        let terms = [7, 4].map(|terms| self.layout.take(terms * shape.channels * size_of::<f32>()));
        Norm {
            pixels: shape.height * shape.width,
            channels: shape.channels,
            links,
            residual: fused.residual.map(|value| self.values[value]),
            residual_inflow: route.residual.map(|inflow| self.flow(inflow)),
            relu: fused.relu,
            alive: fused.alive,
            positive: stored.then(|| self.layout.take(self.settings.batch * shape.size() / 8)),
            terms: terms[0],
            recalled: terms[1],
            scale: self.own(fused, "weight"),
            shift: self.own(fused, "bias"),
            running: ["running_mean", "running_var", "num_batches_tracked"]
                .map(|what| self.own(fused, what).value),
            sums: self.sums,
            part: self.part,
        }
    }

    /// The window of a pool, or one that covers the image.
    fn windows(&self, fused: &Fused<'_>, window: Option<Window>) -> Windows {
        let (input, output) = (self.shapes[fused.input], self.shapes[fused.output]);
        match window {
            Some(Window { kernel, stride, padding }) => {
                Windows { input, output, kernel: (kernel, kernel), stride, padding }
            }
            None => Windows { input, output, kernel: (input.height, input.width), stride: 1, padding: 0 },
        }
    }
}
